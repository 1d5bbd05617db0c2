// Checking data against the stored sums: on the way of a read, and for a whole file.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "datatype/cursor.hpp"
#include "file/message_fields.hpp"
#include "file/outcome_message.hpp"
#include "file/part_exchange.hpp"
#include "file/read_session.hpp"
#include "trace/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kVerifyBytes = 4 << 20;
constexpr size_t kVerifySegments = 16 << 10;

Status damaged(const std::string& path, const std::string& dataset, int64_t first_row, int64_t last_row) {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}': dataset '{}', rows {} to {}: the data don't match their checksum",
                                                   path, dataset, first_row, last_row - 1));
}

Status not_raw(const std::string& path, const std::string& dataset) {
  return Status(
      ErrorCode::kUnsupported,
      fmt::format("'{}': dataset '{}' has a checksum of its raw data, but was packed or filtered since", path, dataset));
}

uint64_t known(uint64_t sum) {
  return sum == 0 ? 1 : sum;
}

void add_damage(std::vector<Damage>& found, const std::string& dataset, int64_t first_row, int64_t last_row) {
  if (!found.empty() && found.back().dataset == dataset && found.back().last_row == first_row) {
    found.back().last_row = last_row;
  } else {
    found.push_back({dataset, first_row, last_row});
  }
}

std::vector<std::byte> encode_damage(const std::vector<Damage>& list) {
  FieldWriter fields;
  for (const Damage& damage : list) {
    fields.text(damage.dataset);
    fields.number(damage.first_row);
    fields.number(damage.last_row);
  }
  return fields.take();
}

void decode_damage(std::span<const std::byte> message, std::vector<Damage>& list) {
  FieldReader fields(message);
  while (!fields.done()) {
    std::string dataset = fields.text();
    const int64_t first_row = fields.number();
    list.push_back({std::move(dataset), first_row, fields.number()});
  }
}

}  // namespace

int ReadSession::entry_of(int checksum_dataset) const {
  auto found = find(checksums_.paths[static_cast<size_t>(checksum_dataset)]);
  return found.ok() ? *found : -1;
}

Result<std::vector<uint64_t>> ReadSession::read_row_sums(int number, int64_t first_row, int64_t row_count) {
  const DatasetEntry& entry = dataset(number);
  auto [offset, table_rows, columns] = checksums_.tables[static_cast<size_t>(entry.checksum_group)];
  std::vector<uint64_t> rows(static_cast<size_t>(row_count * columns));
  storage::ReadSegment segment{offset + first_row * columns * static_cast<int64_t>(sizeof(uint64_t)),
                               reinterpret_cast<std::byte*>(rows.data()), static_cast<int64_t>(rows.size() * sizeof(uint64_t))};
  STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, file_->read(std::span(&segment, 1)));
  if (read_bytes < segment.bytes) {
    return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends before its checksums: the file is cut short", path_));
  }
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(rows[static_cast<size_t>(row * columns + entry.checksum_column)]);
  }
  return sums;
}

// Sets `all_known` to false when some of the rows have no sum of their own.
Status ReadSession::check_rows(const Transfer& transfer, const UnitHasher& hasher, bool& all_known) {
  STRIA_ASSIGN_OR_RETURN(std::vector<uint64_t> stored, read_row_sums(transfer.dataset, transfer.first_row, transfer.row_count));
  for (int64_t row = 0; row < transfer.row_count; ++row) {
    uint64_t expected = stored[static_cast<size_t>(row)];
    uint64_t seen = hasher.sums()[static_cast<size_t>(row)];
    all_known = all_known && expected != 0;
    if (expected != 0 && seen != 0 && expected != seen) {
      return damaged(path_, dataset(transfer.dataset).spec.path, transfer.first_row + row, transfer.first_row + row + 1);
    }
  }
  return Status();
}

// Whole rows are compared with what passed by; everything else that has a sum and that the transfers touch is read once more,
// whole.
Status ReadSession::check_sums(const std::vector<Transfer>& transfers, const TransferSet& set) {
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    const DatasetEntry& entry = dataset(transfer.dataset);
    std::vector<Damage> found;
    Status status;
    bool all_known = entry.checksum_group >= 0;
    if (summed_by_rows(transfer, entry) && set.sums(i)->torn_units().empty()) {
      status = check_rows(transfer, *set.sums(i), all_known);
    } else if (entry.checksum_group >= 0) {
      all_known = false;
      verify_row_range(transfer.dataset, transfer.first_row, transfer.first_row + transfer.row_count, found, status);
    }
    ByteRange touched{transfer.displacement + transfer.region.true_lower_bound(),
                      transfer.displacement + transfer.region.true_upper_bound()};
    for (size_t k = 0; k < checksums_.slabs.size() && status.ok() && !all_known; ++k) {
      const SlabSum& slab = checksums_.slabs[k];
      ByteRange hull{slab.displacement + slab.region.true_lower_bound(), slab.displacement + slab.region.true_upper_bound()};
      if (!intersect(hull, touched).empty() && entry_of(slab.dataset) == transfer.dataset) {
        verify_slab(slab, found, status);
      }
    }
    STRIA_RETURN_IF_ERROR(status);
    if (!found.empty()) {
      return damaged(path_, found[0].dataset, found[0].first_row, found[0].last_row);
    }
  }
  return Status();
}

// Local: for the rank that reads the table.
Status ReadSession::check_table(int number) {
  std::vector<Damage> found;
  Status status;
  for (const SlabSum& slab : checksums_.slabs) {
    if (entry_of(slab.dataset) == number && status.ok()) {
      verify_slab(slab, found, status);
    }
  }
  STRIA_RETURN_IF_ERROR(status);
  return found.empty() ? Status() : damaged(path_, found[0].dataset, found[0].first_row, found[0].last_row);
}

Result<uint64_t> ReadSession::hash_region(const Datatype& region, int64_t displacement) {
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(kVerifyBytes, std::max<int64_t>(region.size(), 1))));
  StreamingHash hash;
  Cursor cursor(region, displacement);
  std::vector<storage::ReadSegment> segments;
  while (!cursor.done()) {
    STRIA_RETURN_IF_ERROR(failure_elsewhere());
    segments.clear();
    int64_t filled = 0;
    while (!cursor.done() && filled < static_cast<int64_t>(buffer.size()) && segments.size() < kVerifySegments) {
      ByteRange piece = cursor.piece();
      int64_t bytes = std::min(piece.size(), static_cast<int64_t>(buffer.size()) - filled);
      segments.push_back({piece.begin, buffer.data() + filled, bytes});
      filled += bytes;
      cursor.advance(bytes);
    }
    STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, file_->read(segments));
    if (read_bytes < filled) {
      return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends before its data: the file is cut short", path_));
    }
    hash.update({buffer.data(), static_cast<size_t>(filled)});
  }
  return known(hash.digest());
}

void ReadSession::verify_slab(const SlabSum& slab, std::vector<Damage>& found, Status& status) {
  int number = entry_of(slab.dataset);
  if (number < 0) {
    add_damage(found, std::string(kChecksumGroup) + "/datasets", slab.dataset, slab.dataset + 1);
    return;
  }
  if (dataset(number).data_offset < 0) {
    status = not_raw(path_, dataset(number).spec.path);
    return;
  }
  const DatasetEntry& entry = dataset(number);
  if (slab.displacement + slab.region.true_upper_bound() > entry.data_bytes() ||
      slab.displacement + slab.region.true_lower_bound() < 0) {
    status =
        Status(ErrorCode::kFormat, fmt::format("'{}': a checksum record lies outside of dataset '{}'", path_, entry.spec.path));
    return;
  }
  auto seen = hash_region(slab.region, entry.data_offset + slab.displacement);
  if (!seen.ok()) {
    status = seen.status();
  } else if (*seen != slab.sum) {
    int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
    add_damage(found, entry.spec.path, (slab.displacement + slab.region.true_lower_bound()) / row_bytes,
               (slab.displacement + slab.region.true_upper_bound() + row_bytes - 1) / row_bytes);
  }
}

// This rank's share of a dataset's rows.
void ReadSession::verify_rows(int number, std::vector<Damage>& found, Status& status) {
  int64_t rows = dataset(number).row_count();
  int64_t first = rows / comm().size() * comm().rank() + std::min<int64_t>(rows % comm().size(), comm().rank());
  int64_t count = rows / comm().size() + (comm().rank() < rows % comm().size() ? 1 : 0);
  verify_row_range(number, first, first + count, found, status);
}

// As many rows at a time as a buffer takes of them and of the sums' table.
void ReadSession::verify_row_range(int number, int64_t first, int64_t last, std::vector<Damage>& found, Status& status) {
  const DatasetEntry& entry = dataset(number);
  int64_t sums_bytes = checksums_.tables[static_cast<size_t>(entry.checksum_group)][2] * static_cast<int64_t>(sizeof(uint64_t));
  int64_t step = std::max<int64_t>(kVerifyBytes / std::max(entry.row_bytes(), sums_bytes), 1);
  for (int64_t begin = first; begin < last && status.ok(); begin += step) {
    int64_t count = std::min(step, last - begin);
    auto stored = read_row_sums(number, begin, count);
    auto seen = stored.ok() ? hash_rows(entry, begin, count) : Result<std::vector<uint64_t>>(stored.status());
    if (!seen.ok()) {
      status = seen.status();
      return;
    }
    for (int64_t row = 0; row < count; ++row) {
      uint64_t expected = (*stored)[static_cast<size_t>(row)];  // 0: never written
      if (expected != 0 && expected != (*seen)[static_cast<size_t>(row)]) {
        add_damage(found, entry.spec.path, begin + row, begin + row + 1);
      }
    }
  }
}

Result<std::vector<uint64_t>> ReadSession::hash_rows(const DatasetEntry& entry, int64_t first_row, int64_t row_count) {
  int64_t row_bytes = entry.row_bytes();
  int64_t offset = entry.data_offset + first_row * row_bytes;
  if (row_count == 1) {
    STRIA_ASSIGN_OR_RETURN(uint64_t sum, hash_region(Datatype::bytes(row_bytes), offset));
    return std::vector<uint64_t>{sum};
  }
  STRIA_RETURN_IF_ERROR(failure_elsewhere());
  std::vector<std::byte> rows(static_cast<size_t>(row_count * row_bytes));
  storage::ReadSegment segment{offset, rows.data(), static_cast<int64_t>(rows.size())};
  STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, file_->read(std::span(&segment, 1)));
  if (read_bytes < segment.bytes) {
    return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends before its data: the file is cut short", path_));
  }
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(sum_of({rows.data() + row * row_bytes, static_cast<size_t>(row_bytes)}));
  }
  return sums;
}

// What all ranks have found, on every rank.
Result<std::vector<Damage>> ReadSession::share_damage(const std::vector<Damage>& mine) {
  std::vector<std::byte> encoded;
  Status status = or_out_of_memory([&] {
    encoded = encode_damage(mine);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  PartExchange exchange;
  exchange.start(comm(), std::move(encoded));
  exchange.finish();
  std::vector<std::byte> message;
  status = or_out_of_memory([&]() -> Status {
    if (!is_root()) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto parts, exchange.take());
    std::vector<Damage> all;
    for (const auto& part : parts) {
      decode_damage(part, all);
    }
    std::stable_sort(all.begin(), all.end(), [](const Damage& a, const Damage& b) {
      return std::tie(a.dataset, a.first_row) < std::tie(b.dataset, b.first_row);
    });
    std::vector<Damage> merged;
    for (const Damage& damage : all) {
      add_damage(merged, damage.dataset, damage.first_row, damage.last_row);
    }
    message = encode_damage(merged);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(share_bytes(comm(), status, message));
  std::vector<Damage> found;
  status = or_out_of_memory([&] {
    decode_damage(message, found);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  return found;
}

// This rank's share of the data.
Status ReadSession::verify_share(std::vector<Damage>& found) {
  Status status = open_handle();
  for (size_t i = 0; i < datasets_.size() && status.ok(); ++i) {
    if (datasets_[i].checksum_group >= 0 && datasets_[i].data_offset < 0) {
      status = not_raw(path_, datasets_[i].spec.path);
    } else if (datasets_[i].checksum_group >= 0) {
      PhaseTimer timer(report_.phases, Phase::kRead);
      verify_rows(static_cast<int>(i), found, status);
    }
  }
  for (size_t i = 0; i < checksums_.slabs.size() && status.ok(); ++i) {
    if (static_cast<int>(i % static_cast<size_t>(comm().size())) == comm().rank()) {
      PhaseTimer timer(report_.phases, Phase::kRead);
      verify_slab(checksums_.slabs[i], found, status);
    }
  }
  return status;
}

Result<std::vector<Damage>> ReadSession::verify() {
  if (!checksums_.present) {
    return Status(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums of Stria's", path_));
  }
  STRIA_RETURN_IF_ERROR(comm().agree(set_reserve_aside()));
  std::vector<Damage> found;
  STRIA_RETURN_IF_ERROR(together([&] { return or_out_of_memory([&] { return verify_share(found); }); }));
  return share_damage(found);
}

}  // namespace stria::file
