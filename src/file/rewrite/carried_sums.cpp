#include "file/rewrite/carried_sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "container/formats/formats.hpp"
#include "file/checksums/changes.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/define/hidden_table.hpp"
#include "file/define/names.hpp"
#include "file/session/catalog_message.hpp"

namespace stria::file {

namespace {

/// Puts a table in place of one that was copied.
Status replace(container::Copy& copy, container::DatasetSpec spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(copy.remove(spec.path));
  return copy.create_table(spec, content);
}

}  // namespace

Result<CarriedSums> CarriedSums::of(storage::File& old_file, const container::Reader& reader) {
  CarriedSums sums;
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, old_file.size());
  STRIA_ASSIGN_OR_RETURN(sums.index_, read_checksum_index(reader, bytes));
  if (!sums.exist()) {
    return sums;
  }
  STRIA_ASSIGN_OR_RETURN(Catalog catalog, read_catalog(reader));
  go_by_summed_paths(sums.index_, catalog);
  STRIA_RETURN_IF_ERROR(note_changes(old_file, reader, catalog, sums.index_));
  if (!sums.index_.is_changed) {
    return sums;
  }
  sums.has_chunk_sums_ = catalog.find(kChunkSumsPath).has_value();
  for (const RowsWithoutSums& rows : rows_without_sums(sums.index_, catalog)) {
    const DatasetEntry& entry = catalog[rows.dataset];
    const int64_t begin = rows.first_row * entry.row_bytes();
    sums.index_.slabs.push_back(
        {.dataset = rows.listed, .displacement = begin, .region = Datatype::bytes(entry.data_bytes() - begin), .sum = kNoSum});
    sums.has_new_records_ = true;
  }
  return sums;
}

// Datasets go by their number in the list.
Status CarriedSums::renew_list(container::Copy& copy, const std::string& without) {
  const auto found = std::find(index_.paths.begin(), index_.paths.end(), without);
  if (found == index_.paths.end()) {
    return Status();
  }
  const auto gone = static_cast<int>(found - index_.paths.begin());
  index_.paths.erase(found);
  index_.placement.erase(index_.placement.begin() + gone);
  std::erase_if(index_.slabs, [&](const SlabSum& slab) { return slab.dataset == gone; });
  for (SlabSum& slab : index_.slabs) {
    slab.dataset -= slab.dataset > gone ? 1 : 0;
  }
  size_t width = 1;
  for (const std::string& path : index_.paths) {
    width = std::max(width, path.size());
  }
  std::vector<std::byte> names(width * index_.paths.size());
  for (size_t i = 0; i < index_.paths.size(); ++i) {
    std::memcpy(names.data() + i * width, index_.paths[i].data(), index_.paths[i].size());
  }
  const auto count = static_cast<int64_t>(index_.paths.size());
  const auto list =
      hidden_table(own_path("datasets"), container::ElementSpec::of_string(static_cast<int64_t>(width), false), {count});
  const auto placement =
      hidden_table(own_path("placement"), container::ElementSpec::of_number(ElementType::kInt64), {count, 2});
  std::vector<int64_t> places;
  for (const auto& [table, column] : index_.placement) {
    places.insert(places.end(), {table, column});
  }
  const auto place_bytes = std::as_bytes(std::span(places));
  STRIA_RETURN_IF_ERROR(replace(copy, list, names));
  STRIA_RETURN_IF_ERROR(replace(copy, placement, place_bytes));
  const auto sum_again = [&](const std::string& path, std::span<const std::byte> content) {
    for (SlabSum& slab : index_.slabs) {
      if (index_.paths[static_cast<size_t>(slab.dataset)] == path) {
        slab.region = Datatype::bytes(static_cast<int64_t>(content.size()));
        slab.sum = sum_of(content);
      }
    }
  };
  sum_again(list.path, names);
  sum_again(placement.path, place_bytes);
  has_new_records_ = true;
  return copy.remove(without);
}

Status CarriedSums::renew_slabs(container::Copy& copy) {
  std::vector<std::byte> records;
  for (const SlabSum& slab : index_.slabs) {
    encode_slab_sum(slab, records);
  }
  const std::vector<std::byte> summed = with_own_sum(records);
  const auto size = static_cast<int64_t>(summed.size());
  return replace(copy, hidden_bytes(own_path("slabs"), size), summed);
}

// The dataset of the seal is the last that is made. It may begin stretches of its own.
Status CarriedSums::make_room_for_seal(container::Copy& copy) {
  constexpr int64_t kMoreStretches = 8;
  STRIA_ASSIGN_OR_RETURN(const int64_t stretches, copy.count_stretches());
  seal_parts_ = stretches + kMoreStretches;
  const int64_t numbers = seal_numbers(index_.seal.tables.size(), static_cast<size_t>(seal_parts_));
  const std::vector<std::byte> room(static_cast<size_t>(numbers) * sizeof(uint64_t));
  return replace(copy, hidden_table(kSealPath, container::ElementSpec::of_number(ElementType::kUint64), {numbers}), room);
}

// Rows that another program has added lie in chunks that had sums before.
Status CarriedSums::renew_tables(container::Copy& copy, const std::string& without) {
  STRIA_ASSERT(exist());
  if (index_.is_changed && has_chunk_sums_) {
    const std::vector<std::byte> none = encode_chunk_sums({});
    const auto size = static_cast<int64_t>(none.size());
    STRIA_RETURN_IF_ERROR(replace(copy, hidden_bytes(kChunkSumsPath, size), none));
  }
  if (!without.empty()) {
    STRIA_RETURN_IF_ERROR(renew_list(copy, without));
  }
  if (has_new_records_) {
    STRIA_RETURN_IF_ERROR(renew_slabs(copy));
  }
  return index_.is_sealed ? make_room_for_seal(copy) : Status();
}

Status CarriedSums::seal(storage::File& new_file, const container::CopiedFile& copied) const {
  if (!index_.is_sealed) {
    return Status();
  }
  STRIA_CHECK(seal_parts_ > 0, seal_parts_);
  STRIA_ASSIGN_OR_RETURN(const auto reader, container::open_file(new_file));
  STRIA_ASSIGN_OR_RETURN(const container::DatasetInfo place, reader->dataset(kSealPath));
  Seal seal{.file_bytes = copied.file_bytes, .tables = index_.seal.tables};
  StreamingHash superblock;
  STRIA_RETURN_IF_ERROR(hash_range(new_file, reader->superblock(), superblock));
  seal.superblock_sum = std::max<uint64_t>(superblock.digest(), 1);
  for (const ByteRange& range : copied.metadata) {
    StreamingHash hash;
    STRIA_RETURN_IF_ERROR(hash_range(new_file, range, hash));
    seal.parts.push_back({range, hash.digest()});
  }
  if (place.data_offset < 0 || static_cast<int64_t>(seal.parts.size()) > seal_parts_) {
    return Status(ErrorCode::kInternal, "the new file has no room for its seal");
  }
  seal.parts.resize(static_cast<size_t>(seal_parts_));
  const std::vector<std::byte> content = encode_seal(seal);
  const storage::WriteSegment segment{place.data_offset, content.data(), static_cast<int64_t>(content.size())};
  return new_file.write({&segment, 1});
}

}  // namespace stria::file
