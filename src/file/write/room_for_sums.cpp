// The part of a flush or commit that keeps room for sums in a file whose rows lie among each other
// behind everything else: netCDF with an unlimited dimension.
//
// Problem: all tables lie before such rows. That of the puts of parts of a row has a record for
// each, so that nobody knows its size before the last put.
// Method: rows that are put whole have their sums in tables of rows, whose size is known. The ranks
// add up what the records of their pending puts will take, in the sum by which they agree anyway.
// At a commit this is all. At a first flush, there is room for as many more as the rest of the data
// will make if it is put likewise. Where more come than fit, all ranks give the sums up, before
// anything is moved, and say so.
// Cost: 8 bytes in a message; after a flush, room of an eighth of the data at most.
#include <fmt/format.h>

#include <algorithm>

#include "file/checksums/seal.hpp"
#include "file/write/checksum_tables.hpp"
#include "file/write/metadata.hpp"
#include "file/write/write_session.hpp"

namespace stria::file {

namespace {

constexpr int64_t kOwnSumBytes = 8;
constexpr int64_t kBoxBytes = 64;  // of the record of a box
constexpr int64_t kLeastRoomBytes = 64 << 10;
constexpr int64_t kShareOfData = 8;

}  // namespace

Status WriteSession::count_sums() {
  sum_bytes_ = 0;
  if (!options_.checksums || !layout_->interleaves()) {
    return Status();
  }
  std::vector<std::byte> records;
  if (is_root() && room_bytes_ < 0) {
    add_table_sums(catalog_, definitions_, records);
  }
  for (const Transfer& put : pending_) {
    const DatasetEntry& dataset = catalog_[put.dataset];
    if (!summed_by_rows(put, dataset)) {
      STRIA_ASSIGN_OR_RETURN(const SlabSum record, record_of(put, dataset));
      encode_slab_sum(record, records);
    }
  }
  sum_bytes_ = static_cast<int64_t>(records.size());
  return Status();
}

Status WriteSession::place_behind_sums(const access::RequestShape& shape, bool last) {
  if (!options_.checksums || !layout_->interleaves()) {
    return Status();
  }
  records_bytes_ += sum_bytes_;
  if (room_bytes_ >= 0) {
    if (records_bytes_ > room_bytes_) {
      give_up_sums();
    }
    return Status();
  }
  room_bytes_ = last ? records_bytes_ : room_for_sums(shape);
  const int64_t seal_bytes = Metadata::seal_bytes(gathering_.tables().size(), definitions_.tables().size());
  STRIA_ASSIGN_OR_RETURN(const int64_t shift,
                         layout_->keep_room(align_up(kOwnSumBytes + room_bytes_, kOwnSumBytes) + seal_bytes));
  for (DatasetEntry& entry : catalog_.datasets()) {
    if (entry.spec.unlimited) {
      entry.data_offset += shift;
      entry.spec.data_offset = entry.data_offset;
    }
  }
  return Status();
}

int64_t WriteSession::room_for_sums(const access::RequestShape& shape) const {
  int64_t rows = 0;
  int64_t data_bytes = 0;
  for (const DatasetEntry& entry : catalog_.datasets()) {
    data_bytes += entry.data_bytes();
    rows += entry.spec.unlimited ? entry.row_count() : 0;
  }
  const auto put_bytes = static_cast<double>(std::max<int64_t>(shape.total_bytes, 1));
  const double like_these = static_cast<double>(records_bytes_) * static_cast<double>(data_bytes) / put_bytes;
  const double by_boxes = static_cast<double>(rows) * static_cast<double>(comm().size()) * kBoxBytes;
  const auto most = static_cast<double>(std::max(data_bytes / kShareOfData, kLeastRoomBytes));
  const double more = std::clamp(std::max(like_these, by_boxes), static_cast<double>(kLeastRoomBytes), most);
  return records_bytes_ + static_cast<int64_t>(more);
}

void WriteSession::give_up_sums() {
  options_.checksums = false;
  definitions_.drop_own_tables();
  gathering_.drop_sums();
  for (DatasetEntry& entry : catalog_.datasets()) {
    entry.checksum_group = -1;
  }
  reserve_.attempt([&] {
    environment_.hint_warnings.push_back(fmt::format(
        "'{}' gets no checksums: its puts have more parts of rows than its first flush() kept room for; put whole rows",
        path_));
  });
}

}  // namespace stria::file
