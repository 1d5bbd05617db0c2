#include "file/write/metadata.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "datatype/convert.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/checksums/seal.hpp"
#include "file/define/names.hpp"
#include "file/write/checksum_tables.hpp"

namespace stria::file {

namespace {

// A number as the value of an attribute of the dataset's type.
std::vector<std::byte> number_as(ElementType type, double value) {
  std::vector<std::byte> bytes(static_cast<size_t>(element_bytes(type)));
  convert_elements(ElementType::kFloat64, reinterpret_cast<const std::byte*>(&value), type, bytes.data(), 1);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Metadata>> Metadata::build(const container::FileFormat& format, const container::Layout& layout,
                                                  const Content& content) {
  STRIA_ASSIGN_OR_RETURN(auto writer, format.make_writer(layout));
  std::unique_ptr<Metadata> metadata(new Metadata(std::move(writer), content));
  STRIA_RETURN_IF_ERROR(metadata->build_all());
  return metadata;
}

Status Metadata::build_all() {
  for (const DatasetEntry& dataset : content_.catalog.datasets()) {
    STRIA_RETURN_IF_ERROR(writer_->create_dataset(dataset.spec).status());
    if (dataset.value_range) {
      STRIA_RETURN_IF_ERROR(reserve_value_range(dataset));
    }
  }
  for (size_t i = 0; i < content_.row_tables.size(); ++i) {
    STRIA_RETURN_IF_ERROR(writer_->create_dataset(content_.row_tables[i].spec(i)).status());
  }
  return content_.definitions.carry_out(*writer_);
}

// The attributes get their place next to their dataset before their values are known.
Status Metadata::reserve_value_range(const DatasetEntry& dataset) {
  const ElementType type = dataset.stored_element();
  std::array<int, 2> places{};
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
    if (ranges[i].minimum <= ranges[i].maximum) {  // else nothing was put
      values.emplace_back(places[0], number_as(dataset.stored_element(), ranges[i].minimum));
      values.emplace_back(places[1], number_as(dataset.stored_element(), ranges[i].maximum));
    }
  }
  return writer_->fill_attributes(values);
}

Status Metadata::finish(GatheredByAll gathered, bool checksums) {
  STRIA_RETURN_IF_ERROR(fill_value_ranges(gathered.value_ranges));
  STRIA_RETURN_IF_ERROR(place_chunks(std::move(gathered.chunks), checksums));
  if (checksums) {
    STRIA_RETURN_IF_ERROR(create_slabs(std::move(gathered.slab_records)));
    STRIA_RETURN_IF_ERROR(create_room_for_seal());
  }
  STRIA_ASSIGN_OR_RETURN(image_, writer_->finish());
  if (checksums) {
    seal(std::move(gathered.table_shares));
  }
  return Status();
}

// Tells the writer of all chunks, and keeps the sums of their bytes.
Status Metadata::place_chunks(std::vector<std::vector<SummedChunk>> chunks, bool checksums) {
  ChunkSums sums;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const DatasetEntry& dataset = content_.catalog[static_cast<int>(i)];
    if (!dataset.is_chunked()) {
      continue;
    }
    std::vector<SummedChunk>& own = chunks[i];
    std::sort(own.begin(), own.end(),
              [](const SummedChunk& a, const SummedChunk& b) { return a.place.number < b.place.number; });
    std::vector<container::StoredChunk> places;
    for (const SummedChunk& chunk : own) {
      places.push_back(chunk.place);
      sums[dataset.spec.path].push_back(chunk.sum);
    }
    STRIA_RETURN_IF_ERROR(writer_->place_chunks(dataset.spec.path, std::move(places)));
  }
  if (!checksums || sums.empty()) {
    return Status();
  }
  const std::vector<std::byte> content = encode_chunk_sums(sums);
  container::DatasetSpec spec;
  spec.path = kChunkSumsPath;
  spec.element = container::ElementSpec::of_number(ElementType::kUint8);
  spec.dims = {static_cast<int64_t>(content.size())};
  return writer_->create_table(spec, content);
}

Status Metadata::create_slabs(std::vector<std::byte> records) {
  add_table_sums(content_.catalog, content_.definitions, records);
  const std::vector<std::byte> summed = with_own_sum(records);
  container::DatasetSpec slabs;
  slabs.path = std::string(kOwnGroup) + "/slabs";
  slabs.element = container::ElementSpec::of_number(ElementType::kUint8);
  slabs.dims = {static_cast<int64_t>(summed.size())};
  return writer_->create_table(slabs, summed);
}

Status Metadata::create_room_for_seal() {
  container::DatasetSpec seal;
  seal.path = kSealPath;
  seal.element = container::ElementSpec::of_number(ElementType::kUint64);
  seal.dims = {seal_numbers(content_.row_tables.size())};
  const std::vector<std::byte> room(static_cast<size_t>(seal.dims[0]) * sizeof(uint64_t));
  return writer_->create_table(seal, room);
}

// The seal has a sum of everything around it, so it is filled in when all of that has its place.
void Metadata::seal(std::vector<std::vector<TableShare>> table_shares) {
  Seal seal;
  seal.head_bytes = static_cast<int64_t>(image_.extents[0].bytes.size());
  seal.tail_begin = image_.extents.size() > 1 ? image_.extents[1].offset : 0;
  seal.file_bytes = image_.file_bytes;
  for (std::vector<TableShare>& shares : table_shares) {
    seal.tables.push_back(unite(std::move(shares)));
  }
  seal.superblock_sum = sum_of(image_.at(image_.superblock));
  StreamingHash metadata;
  for (const ByteRange& range : sealed_ranges(seal, image_.tables)) {
    metadata.update(image_.at(range));
  }
  seal.metadata_sum = metadata.digest();
  const std::vector<std::byte> content = encode_seal(seal);
  std::copy(content.begin(), content.end(), image_.at(image_.tables.back()).begin());
}

}  // namespace stria::file
