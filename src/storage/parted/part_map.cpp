#include "storage/parted/part_map.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::storage {

namespace {

int part_of_row(int64_t row, int64_t row_count, int part_count) {
  const int64_t fewer = row_count / part_count;
  const int64_t parts_with_more = row_count % part_count;
  const int64_t rows_in_those = parts_with_more * (fewer + 1);
  return static_cast<int>(row < rows_in_those ? row / (fewer + 1) : parts_with_more + (row - rows_in_those) / fewer);
}

}  // namespace

ByteRange rows_of_part(int64_t row_count, int part_count, int part) {
  STRIA_ASSERT(row_count >= 0 && 0 <= part && part < part_count, row_count, part, part_count);
  const auto before = [&](int64_t parts) { return row_count / part_count * parts + std::min(parts, row_count % part_count); };
  return {before(part), before(part + 1)};
}

int64_t PartMap::bytes_of_parts() const {
  int64_t bytes = 0;
  for (const Part& part : parts) {
    bytes += part.least_bytes;
  }
  return bytes;
}

PartMap::Mark PartMap::mark_of(int part) const {
  STRIA_ASSERT(0 <= part && part < part_count(), part, part_count());
  Mark mark{};
  std::copy(identity.begin(), identity.end(), mark.begin());
  for (int64_t i = 0; i < kMarkBytes - kIdentityBytes; ++i) {
    mark[static_cast<size_t>(kIdentityBytes + i)] = static_cast<std::byte>(static_cast<uint64_t>(part) >> 8 * i);
  }
  return mark;
}

PartedStretch PartMap::stretch_at(int64_t address, int64_t bytes) const {
  STRIA_ASSERT(bytes > 0, bytes);
  if (address < kFirstAddress) {
    return {.part = PartedStretch::kMaster, .offset = address, .bytes = std::min(bytes, kFirstAddress - address)};
  }
  const auto behind = std::upper_bound(arrays.begin(), arrays.end(), address,
                                       [](int64_t at, const PartedArray& array) { return at < array.address; });
  if (behind == arrays.begin() || address >= std::prev(behind)->end()) {
    const bool is_gap = behind != arrays.begin() && behind != arrays.end();
    return is_gap ? PartedStretch{.part = PartedStretch::kGap, .bytes = std::min(bytes, behind->address - address)}
                  : PartedStretch{};
  }
  const PartedArray& array = *std::prev(behind);
  const int part = part_of_row((address - array.address) / array.row_bytes, array.row_count, part_count());
  const ByteRange rows = rows_of_part(array.row_count, part_count(), part);
  const int64_t skipped = address - array.address - rows.begin * array.row_bytes;
  STRIA_CHECK(0 <= skipped && skipped < rows.size() * array.row_bytes &&
                  array.offsets.size() == static_cast<size_t>(part_count()) && array.offsets[static_cast<size_t>(part)] >= 0,
              address, part, skipped, rows.begin, rows.end, array.offsets.size());
  return {.part = part,
          .offset = array.offsets[static_cast<size_t>(part)] + skipped,
          .bytes = std::min(bytes, rows.size() * array.row_bytes - skipped)};
}

}  // namespace stria::storage
