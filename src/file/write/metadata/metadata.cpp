#include "file/write/metadata/metadata.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "datatype/convert/convert.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/checksums/seal.hpp"
#include "file/define/hidden_table.hpp"
#include "file/define/names.hpp"
#include "file/write/metadata/checksum_tables.hpp"

namespace stria::file {

namespace {

// Returns a number as the value of an attribute of the dataset's type.
std::vector<std::byte> number_as(ElementType type, double value) {
  std::vector<std::byte> bytes(static_cast<size_t>(element_bytes(type)));
  convert_elements(ElementType::kFloat64, reinterpret_cast<const std::byte*>(&value), type, bytes.data(), 1);
  return bytes;
}

// One stretch before each table, one behind the last, and one where other programs change what lies
// between two; besides the tables given there are slabs, chunks and the seal itself.
size_t most_parts(size_t tables) {
  return tables + 5;
}

}  // namespace

int64_t Metadata::seal_bytes(size_t row_tables, size_t tables) {
  return seal_numbers(row_tables, most_parts(tables)) * static_cast<int64_t>(sizeof(uint64_t));
}

Result<std::unique_ptr<Metadata>> Metadata::build(const container::FileFormat& format, const container::Layout& layout,
                                                  const Content& content) {
  STRIA_ASSIGN_OR_RETURN(auto writer,
                         content.old.exists ? content.old.growth->make_writer(layout) : format.make_writer(layout));
  if (content.keeps_order) {
    writer->keep_order();
  }
  std::unique_ptr<Metadata> metadata(new Metadata(std::move(writer), content, content.old.exists || layout.interleaves()));
  metadata->has_chunk_sums_ = !is_netcdf(format.format());
  STRIA_RETURN_IF_ERROR(metadata->build_all());
  return metadata;
}

Status Metadata::build_all() {
  for (const DatasetEntry& dataset : content_.catalog.datasets()) {
    if (!dataset.is_updated) {
      STRIA_RETURN_IF_ERROR(dataset.is_old ? writer_->extend_dataset(dataset.spec)
                                           : writer_->create_dataset(dataset.spec).status());
    }
    if (dataset.value_range) {
      STRIA_RETURN_IF_ERROR(reserve_value_range(dataset));
    }
  }
  for (size_t i = 0; i < content_.row_tables.size(); ++i) {
    const size_t number = content_.old.checksums.tables.size() + i;
    STRIA_RETURN_IF_ERROR(writer_->create_dataset(content_.row_tables[i].spec(number)).status());
  }
  STRIA_RETURN_IF_ERROR(remove_own_tables());
  STRIA_RETURN_IF_ERROR(content_.definitions.carry_out(*writer_));
  return writer_->take_up_connected();
}

// Removes those tables of a file that grows which are made anew for all of it.
Status Metadata::remove_own_tables() {
  for (const char* name : {"datasets", "placement", "slabs", "chunks", "seal"}) {
    if (content_.old.checksums.present) {
      STRIA_RETURN_IF_ERROR(writer_->remove(own_path(name)));
    }
  }
  return Status();
}

// The attributes get their place next to their dataset before their values are known.
Status Metadata::reserve_value_range(const DatasetEntry& dataset) {
  const ElementType type = dataset.stored_element();
  std::array<int, 2> places{-1, -1};
  if (dataset.is_updated) {
    ValueRange range;
    STRIA_ASSIGN_OR_RETURN(const bool has_range, read_value_range(content_.old.growth->reader(), dataset.spec.path, range));
    if (!has_range) {
      range_attributes_.push_back(places);
      return Status();
    }
    old_ranges_[dataset.spec.path] = range;
  }
  for (size_t i : {0, 1}) {
    const container::AttributeSpec attribute{.object_path = dataset.spec.path,
                                             .name = i == 0 ? "minimum" : "maximum",
                                             .element = container::ElementSpec::of_number(type),
                                             .dims = {1},
                                             .value = number_as(type, 0)};
    STRIA_ASSIGN_OR_RETURN(places[i], writer_->reserve_attribute(attribute));
  }
  range_attributes_.push_back(places);
  return Status();
}

Status Metadata::fill_value_ranges(std::span<const ValueRange> ranges) {
  std::vector<std::pair<int, std::vector<std::byte>>> values;
  size_t reserved = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const DatasetEntry& dataset = content_.catalog[static_cast<int>(i)];
    if (!dataset.value_range) {
      continue;
    }
    const std::array<int, 2>& places = range_attributes_[reserved++];
    if (places[0] < 0) {
      continue;
    }
    // Where the range is empty, nothing was put. Where rows are still to come, the attributes say
    // that there is a range.
    if (ranges[i].minimum <= ranges[i].maximum || (dataset.spec.extendable && !dataset.is_old)) {
      ValueRange range = ranges[i];
      if (const auto old = old_ranges_.find(dataset.spec.path); old != old_ranges_.end()) {
        range = {std::min(range.minimum, old->second.minimum), std::max(range.maximum, old->second.maximum)};
      }
      values.emplace_back(places[0], number_as(dataset.stored_element(), range.minimum));
      values.emplace_back(places[1], number_as(dataset.stored_element(), range.maximum));
    }
  }
  return writer_->fill_attributes(values);
}

Status Metadata::finish(GatheredByAll gathered, bool checksums) {
  STRIA_RETURN_IF_ERROR(fill_value_ranges(gathered.value_ranges));
  STRIA_RETURN_IF_ERROR(place_chunks(std::move(gathered.chunks), checksums));
  if (checksums) {
    unite_tables(std::move(gathered.table_shares), gathered.slab_records);
    STRIA_RETURN_IF_ERROR(create_slabs(std::move(gathered.slab_records)));
    STRIA_RETURN_IF_ERROR(create_room_for_seal());
  }
  STRIA_ASSIGN_OR_RETURN(image_, writer_->finish());
  if (checksums) {
    seal();
  }
  return Status();
}

// Tells the writer of all chunks, and keeps the sums of their bytes.
Status Metadata::place_chunks(std::vector<std::vector<SummedChunk>> chunks, bool checksums) {
  ChunkSums sums = content_.old.chunk_sums;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const DatasetEntry& dataset = content_.catalog[static_cast<int>(i)];
    if (!dataset.is_packed()) {
      STRIA_RETURN_IF_ERROR(renew_sums(dataset, chunks[i], sums));
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(auto places, join_chunks(dataset, std::move(chunks[i]), sums));
    STRIA_RETURN_IF_ERROR(writer_->place_chunks(dataset.spec.path, std::move(places)));
  }
  if (!checksums || (sums.empty() && !has_chunk_sums_)) {
    return Status();
  }
  const std::vector<std::byte> content = encode_chunk_sums(sums);
  return writer_->create_table(hidden_bytes(kChunkSumsPath, static_cast<int64_t>(content.size())), content);
}

// Chunks of which elements are overwritten stay where they are: `sums` gets their new sums, where
// it has some of the dataset.
Status Metadata::renew_sums(const DatasetEntry& dataset, std::span<const SummedChunk> own, ChunkSums& sums) const {
  const auto of_dataset = sums.find(dataset.spec.path);
  if (own.empty() || of_dataset == sums.end()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const auto places, content_.old.growth->reader().chunks(dataset.spec.path));
  if (places.size() != of_dataset->second.size()) {
    sums.erase(of_dataset);
    return Status();
  }
  for (const SummedChunk& chunk : own) {
    const container::StoredChunk* const place = container::find_chunk(places, chunk.place.number);
    if (place == nullptr) {
      return Status(ErrorCode::kInternal, "a chunk that was overwritten isn't in the index");
    }
    of_dataset->second[static_cast<size_t>(place - places.data())] = chunk.sum;
  }
  return Status();
}

// Returns the chunks of a dataset by number, and in `sums` those of their bytes. An old chunk stays
// where no new one takes its place. Where the sum of one isn't known, none is kept.
Result<std::vector<container::StoredChunk>> Metadata::join_chunks(const DatasetEntry& dataset, std::vector<SummedChunk> own,
                                                                  ChunkSums& sums) const {
  std::vector<container::StoredChunk> before;
  if (dataset.is_old) {
    STRIA_ASSIGN_OR_RETURN(before, content_.old.growth->reader().chunks(dataset.spec.path));
  }
  std::vector<uint64_t>& of_dataset = sums[dataset.spec.path];
  const bool has_sums = of_dataset.size() == before.size();
  const auto by_number = [](const SummedChunk& a, const SummedChunk& b) { return a.place.number < b.place.number; };
  std::sort(own.begin(), own.end(), by_number);
  for (size_t i = 0, end = own.size(); i < before.size(); ++i) {
    const SummedChunk old{.place = before[i], .sum = has_sums ? of_dataset[i] : 0};
    if (!std::binary_search(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(end), old, by_number)) {
      own.push_back(old);
    }
  }
  std::sort(own.begin(), own.end(), by_number);
  std::vector<container::StoredChunk> places;
  of_dataset.clear();
  for (const SummedChunk& chunk : own) {
    places.push_back(chunk.place);
    of_dataset.push_back(chunk.sum);
  }
  if (!has_sums || of_dataset.empty()) {
    sums.erase(dataset.spec.path);
  }
  return places;
}

// Rows that were put more than once may not have their sum: a record says so. There is no room for
// one before rows that lie among each other; the table's seal then says it of all.
void Metadata::unite_tables(std::vector<std::vector<TableShare>> shares, std::vector<std::byte>& records) {
  const auto datasets = content_.catalog.datasets();
  const bool has_room =
      std::none_of(datasets.begin(), datasets.end(), [](const DatasetEntry& dataset) { return dataset.is_interleaved(); });
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<ByteRange> repeated;
    TableSeal sealed = unite(std::move(shares[i]), &repeated);
    if (has_room) {
      add_repeated_rows(content_.row_tables[i], repeated, content_.catalog, records);
    } else if (!repeated.empty()) {
      sealed = {TableSeal::kUnknown, 0};
    }
    row_tables_.push_back(sealed);
  }
}

Status Metadata::create_slabs(std::vector<std::byte> records) {
  add_table_sums(content_.catalog, content_.definitions, records);
  STRIA_ASSIGN_OR_RETURN(records, join_records(content_.catalog, content_.old, content_.definitions.tables().size(), records));
  const std::vector<std::byte> summed = with_own_sum(records);
  return writer_->create_table(hidden_bytes(own_path("slabs"), static_cast<int64_t>(summed.size())), summed);
}

Status Metadata::create_room_for_seal() {
  seal_parts_ = in_parts_ ? content_.old.sealed.size() + most_parts(content_.definitions.tables().size()) : 0;
  const int64_t numbers = seal_numbers(content_.old.checksums.tables.size() + content_.row_tables.size(), seal_parts_);
  const std::vector<std::byte> room(static_cast<size_t>(numbers) * sizeof(uint64_t));
  return writer_->create_table(hidden_table(kSealPath, container::ElementSpec::of_number(ElementType::kUint64), {numbers}),
                               room);
}

// Returns what is made, without the contents of tables, the few bytes between them, and what other
// programs change.
std::vector<SealedPart> Metadata::new_parts() {
  constexpr int64_t kMostPadding = 15;
  std::vector<ByteRange> others = image_.tables;
  others.push_back(image_.row_count);
  std::vector<SealedPart> parts;
  for (const auto& extent : image_.extents) {
    const ByteRange all{extent.offset, extent.offset + static_cast<int64_t>(extent.bytes.size())};
    for (const ByteRange& range : between_tables(all, others)) {
      if (range.size() > kMostPadding || range.begin == 0) {
        parts.push_back({range, hash_bytes(image_.at(range))});
      }
    }
  }
  return parts;
}

// The seal has a sum of everything around it, so it is filled in when all of that has its place.
void Metadata::seal() {
  const ChecksumIndex& before = content_.old.checksums;
  Seal seal;
  seal.file_bytes = image_.file_bytes;
  for (size_t i = 0; i < before.tables.size(); ++i) {
    seal.tables.push_back(before.is_sealed ? before.seal.tables[i] : TableSeal{TableSeal::kUnknown, 0});
  }
  seal.tables.insert(seal.tables.end(), row_tables_.begin(), row_tables_.end());
  seal.superblock_sum = sum_of(image_.at(image_.superblock));
  if (in_parts_) {
    seal.parts = content_.old.sealed;
    const std::vector<SealedPart> added = new_parts();
    seal.parts.insert(seal.parts.end(), added.begin(), added.end());
    seal.parts.resize(seal_parts_);
  } else {
    seal.head_bytes = static_cast<int64_t>(image_.extents[0].bytes.size());
    seal.tail_begin = image_.extents.size() > 1 ? image_.extents[1].offset : 0;
    StreamingHash metadata;
    for (const ByteRange& range : sealed_ranges(seal, image_.tables)) {
      metadata.update(image_.at(range));
    }
    seal.metadata_sum = metadata.digest();
  }
  const std::vector<std::byte> content = encode_seal(seal);
  std::copy(content.begin(), content.end(), image_.at(image_.tables.back()).begin());
}

}  // namespace stria::file
