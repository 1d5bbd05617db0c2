#include "file/write/metadata/room_for_sums.hpp"

#include <algorithm>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "file/checksums/seal.hpp"
#include "file/write/metadata/checksum_tables.hpp"
#include "file/write/metadata/gathered.hpp"

namespace stria::file {

namespace {

constexpr int64_t kOwnSumBytes = 8;
constexpr int64_t kBoxBytes = 64;  // the bytes of the record of a box
constexpr int64_t kLeastRoomBytes = 64 << 10;
constexpr int64_t kShareOfData = 8;

// Keeps the room, with that of the seal, and gives rows their places behind it.
Status place_behind_room(container::Layout& layout, Catalog& catalog, int64_t room_bytes, int64_t seal_bytes) {
  STRIA_CHECK(room_bytes >= 0 && seal_bytes >= 0, room_bytes, seal_bytes);
  STRIA_ASSIGN_OR_RETURN(const int64_t shift, layout.keep_room(align_up(kOwnSumBytes + room_bytes, kOwnSumBytes) + seal_bytes));
  for (DatasetEntry& entry : catalog.datasets()) {
    if (entry.spec.unlimited) {
      entry.data_offset += shift;
      entry.spec.data_offset = entry.data_offset;
    }
  }
  return Status();
}

}  // namespace

Result<int64_t> count_sum_records(const Catalog& catalog, std::span<const Transfer> pending, const Definitions* definitions) {
  std::vector<std::byte> records;
  if (definitions != nullptr) {
    add_table_sums(catalog, *definitions, records);
  }
  for (const Transfer& put : pending) {
    const DatasetEntry& dataset = catalog[put.dataset];
    if (!summed_by_rows(put, dataset)) {
      STRIA_ASSIGN_OR_RETURN(const SlabSum record, record_of(put, dataset));
      encode_slab_sum(record, records);
    }
  }
  return static_cast<int64_t>(records.size());
}

Result<bool> RoomForSums::keep(container::Layout& layout, Catalog& catalog, const Known& known, int64_t seal_bytes) {
  records_bytes_ += known.record_bytes;
  if (is_kept()) {
    return records_bytes_ <= room_bytes_;
  }
  room_bytes_ = known.last ? records_bytes_ : room_after_flush(catalog, known);
  STRIA_RETURN_IF_ERROR(place_behind_room(layout, catalog, room_bytes_, seal_bytes));
  return true;
}

int64_t RoomForSums::room_after_flush(const Catalog& catalog, const Known& known) const {
  int64_t rows = 0;
  int64_t data_bytes = 0;
  for (const DatasetEntry& entry : catalog.datasets()) {
    data_bytes += entry.data_bytes();
    rows += entry.spec.unlimited ? entry.row_count() : 0;
  }
  const auto put_bytes = static_cast<double>(std::max<int64_t>(known.put_bytes, 1));
  const double like_these = static_cast<double>(records_bytes_) * static_cast<double>(data_bytes) / put_bytes;
  const double by_boxes = static_cast<double>(rows) * static_cast<double>(known.ranks) * kBoxBytes;
  const auto most = static_cast<double>(std::max(data_bytes / kShareOfData, kLeastRoomBytes));
  const double more = std::clamp(std::max(like_these, by_boxes), static_cast<double>(kLeastRoomBytes), most);
  return records_bytes_ + static_cast<int64_t>(more);
}

}  // namespace stria::file
