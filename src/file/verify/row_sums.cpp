#include "file/verify/row_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stria::file {

namespace {

constexpr int64_t kTableStepBytes = 4 << 20;  // read at once

}  // namespace

Status RowSums::read(const SummedFile& from, int table, int64_t first_row, int64_t row_count) {
  if (kept_.table == table && kept_.first_row == first_row && kept_.row_count == row_count) {
    return Status();
  }
  const auto [offset, rows, columns] = from.sums.tables[static_cast<size_t>(table)];
  kept_.table = -1;
  kept_.sums.resize(static_cast<size_t>(row_count * columns));
  const storage::ReadSegment segment{offset + first_row * columns * kRowSumBytes,
                                     reinterpret_cast<std::byte*>(kept_.sums.data()),
                                     static_cast<int64_t>(kept_.sums.size()) * kRowSumBytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, from.file.read(std::span(&segment, 1)));
  if (read_bytes < segment.bytes) {
    return cut_short(from, "checksums");
  }
  kept_.table = table;
  kept_.first_row = first_row;
  kept_.row_count = row_count;
  return Status();
}

Result<std::vector<uint64_t>> RowSums::of_rows(const SummedFile& from, int dataset, int64_t first_row, int64_t row_count) {
  const DatasetEntry& entry = from.catalog[dataset];
  const int64_t columns = from.sums.tables[static_cast<size_t>(entry.checksum_group)][2];
  STRIA_RETURN_IF_ERROR(read(from, entry.checksum_group, first_row, row_count));
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(kept_.sums[static_cast<size_t>(row * columns + entry.checksum_column)]);
  }
  return sums;
}

Result<bool> RowSums::is_right(const SummedFile& from, int table) {
  if (!from.sums.is_sealed || from.sums.seal.tables[static_cast<size_t>(table)].count == TableSeal::kUnknown) {
    return true;
  }
  const auto [offset, rows, columns] = from.sums.tables[static_cast<size_t>(table)];
  const int64_t step = std::max<int64_t>(kTableStepBytes / std::max<int64_t>(columns * kRowSumBytes, 1), 1);
  TableSeal seen;
  for (int64_t row = 0; row < rows; row += step) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from.signal));
    STRIA_RETURN_IF_ERROR(read(from, table, row, std::min(step, rows - row)));
    for (size_t i = 0; i < kept_.sums.size(); ++i) {
      seen.count += kept_.sums[i] != 0 ? 1 : 0;
      seen.sum += place_term(row * columns + static_cast<int64_t>(i), kept_.sums[i]);
    }
  }
  const TableSeal& sealed = from.sums.seal.tables[static_cast<size_t>(table)];
  return seen.count == sealed.count && seen.sum == sealed.sum;
}

Status RowSums::believe_zeros(const SummedFile& from, int table) {
  if (believed_.count(table) != 0) {
    return Status();
  }
  bool is_believed = !from.sums.is_full(table);
  if (is_believed) {
    STRIA_ASSIGN_OR_RETURN(is_believed, is_right(from, table));
  }
  if (!is_believed) {
    return Status(ErrorCode::kCorrupted, fmt::format("'{}': dataset '{}', which holds checksums, is damaged", from.path,
                                                     RowTable::path(static_cast<size_t>(table))));
  }
  believed_.insert(table);
  return Status();
}

}  // namespace stria::file
