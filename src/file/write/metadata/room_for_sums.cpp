#include "file/write/metadata/room_for_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "file/checksums/seal.hpp"
#include "file/write/metadata/checksum_tables.hpp"
#include "file/write/metadata/metadata.hpp"

namespace stria::file {

namespace {

constexpr int64_t kOwnSumBytes = 8;
constexpr int64_t kBoxBytes = 64;  // of the record of a box
constexpr int64_t kLeastRoomBytes = 64 << 10;
constexpr int64_t kShareOfData = 8;

}  // namespace

Result<int64_t> RoomForSums::count(std::span<const Transfer> pending) const {
  if (!is_needed()) {
    return 0;
  }
  std::vector<std::byte> records;
  if (means_.environment.comm->rank() == 0 && room_bytes_ < 0) {
    add_table_sums(means_.catalog, means_.definitions, records);
  }
  for (const Transfer& put : pending) {
    const DatasetEntry& dataset = means_.catalog[put.dataset];
    if (!summed_by_rows(put, dataset)) {
      STRIA_ASSIGN_OR_RETURN(const SlabSum record, record_of(put, dataset));
      encode_slab_sum(record, records);
    }
  }
  return static_cast<int64_t>(records.size());
}

Status RoomForSums::keep(int64_t counted_bytes, const access::RequestShape& shape, bool last) {
  if (!is_needed()) {
    return Status();
  }
  records_bytes_ += counted_bytes;
  if (room_bytes_ >= 0) {
    if (records_bytes_ > room_bytes_) {
      give_up_sums();
    }
    return Status();
  }
  room_bytes_ = last ? records_bytes_ : room_after_flush(shape);
  const int64_t seal_bytes = Metadata::seal_bytes(means_.gathering.tables().size(), means_.definitions.tables().size());
  STRIA_ASSIGN_OR_RETURN(const int64_t shift,
                         means_.places.layout()->keep_room(align_up(kOwnSumBytes + room_bytes_, kOwnSumBytes) + seal_bytes));
  for (DatasetEntry& entry : means_.catalog.datasets()) {
    if (entry.spec.unlimited) {
      entry.data_offset += shift;
      entry.spec.data_offset = entry.data_offset;
    }
  }
  return Status();
}

int64_t RoomForSums::room_after_flush(const access::RequestShape& shape) const {
  int64_t rows = 0;
  int64_t data_bytes = 0;
  for (const DatasetEntry& entry : means_.catalog.datasets()) {
    data_bytes += entry.data_bytes();
    rows += entry.spec.unlimited ? entry.row_count() : 0;
  }
  const int ranks = means_.environment.comm->size();
  const auto put_bytes = static_cast<double>(std::max<int64_t>(shape.total_bytes, 1));
  const double like_these = static_cast<double>(records_bytes_) * static_cast<double>(data_bytes) / put_bytes;
  const double by_boxes = static_cast<double>(rows) * static_cast<double>(ranks) * kBoxBytes;
  const auto most = static_cast<double>(std::max(data_bytes / kShareOfData, kLeastRoomBytes));
  const double more = std::clamp(std::max(like_these, by_boxes), static_cast<double>(kLeastRoomBytes), most);
  return records_bytes_ + static_cast<int64_t>(more);
}

void RoomForSums::give_up_sums() {
  means_.checksums = false;
  means_.definitions.drop_own_tables();
  means_.gathering.drop_sums();
  for (DatasetEntry& entry : means_.catalog.datasets()) {
    entry.checksum_group = -1;
  }
  means_.reserve.attempt([&] {
    means_.environment.hint_warnings.push_back(fmt::format(
        "'{}' gets no checksums: its puts have more parts of rows than its first flush() kept room for; put whole rows",
        means_.path));
  });
}

}  // namespace stria::file
