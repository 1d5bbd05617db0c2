// Checks during a read. Rows that are got whole are hashed while they are unpacked. Of rows that
// are got in part, and of puts that are not got as they were put, the rest is read too.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "container/fill_value.hpp"
#include "file/verify/sum_checker.hpp"

namespace stria::file {

namespace {

// The sum of a row that nobody has put.
uint64_t sum_of_unwritten(const DatasetEntry& entry) {
  constexpr int64_t kAtOnceBytes = 64 << 10;  // of whole elements
  std::vector<std::byte> values(static_cast<size_t>(std::min(entry.row_bytes(), kAtOnceBytes)));
  container::lay_fill_value(entry.spec.fill_value, values);
  StreamingHash hash;
  for (int64_t left = entry.row_bytes(); left > 0; left -= kAtOnceBytes) {
    hash.update(std::span(values).first(static_cast<size_t>(std::min(left, kAtOnceBytes))));
  }
  return std::max<uint64_t>(hash.digest(), 1);
}

// The raw data from the first byte of a transfer to the last, or, where rows lie among others', of
// its rows, but for those that another program has added.
ByteRange touched_by(const Transfer& transfer, const DatasetEntry& entry) {
  const int64_t row_bytes = entry.row_bytes();
  const ByteRange own{0, entry.own_rows() * row_bytes};
  if (entry.is_interleaved()) {
    return intersect({transfer.first_row * row_bytes, (transfer.first_row + transfer.row_count) * row_bytes}, own);
  }
  return intersect(
      {transfer.displacement + transfer.region.true_lower_bound(), transfer.displacement + transfer.region.true_upper_bound()},
      own);
}

// Whether the transfer is just what the record sums, in one piece.
bool is_same(const Transfer& transfer, const DatasetEntry& entry, const SlabSum& slab) {
  return !entry.is_interleaved() && transfer.region.is_contiguous() && slab.region.is_contiguous() &&
         transfer.region.size() == slab.region.size() &&
         transfer.displacement + transfer.region.true_lower_bound() == slab.displacement + slab.region.true_lower_bound();
}

}  // namespace

Status SumChecker::table_damaged(int table) const {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}': dataset '{}', which holds checksums, is damaged", seen_.path,
                                                   RowTable::path(static_cast<size_t>(table))));
}

// A sum of 0 means that the row was never put. If that can't be, or the table has changed,
// the sum is lost.
Status SumChecker::trust_table(int table) {
  if (seen_.checksums.is_full(table)) {
    return table_damaged(table);
  }
  if (trusted_tables_.count(table) == 0) {
    STRIA_ASSIGN_OR_RETURN(const bool is_right, table_is_right(table));
    if (!is_right) {
      return table_damaged(table);
    }
    trusted_tables_.insert(table);
  }
  return Status();
}

// Whole rows that have passed by. Those that did so out of order are few, and read again. Sets
// `all_known` to false when some have no sum of their own.
Status SumChecker::check_rows(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found, bool& all_known) {
  const DatasetEntry& entry = seen_.catalog[transfer.dataset];
  const int64_t count = std::clamp<int64_t>(entry.own_rows() - transfer.first_row, 0, transfer.row_count);
  if (count == 0) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const auto stored, read_row_sums(transfer.dataset, transfer.first_row, count));
  // Where it has no sum.
  const bool is_unwritten = slabs_of_[static_cast<size_t>(transfer.dataset)].empty();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = transfer.first_row + i;
    uint64_t expected = stored[static_cast<size_t>(i)];
    uint64_t seen = hasher.sums()[static_cast<size_t>(i)];
    if (expected == 0) {
      STRIA_RETURN_IF_ERROR(trust_table(entry.checksum_group));
      all_known = all_known && is_unwritten;
      if (!is_unwritten) {
        continue;
      }
      expected = sum_of_unwritten(entry);
    }
    if (seen == 0) {
      STRIA_ASSIGN_OR_RETURN(const auto again, hash_rows(transfer.dataset, row, 1, found));
      seen = again[0];
    }
    if (seen != expected) {
      STRIA_RETURN_IF_ERROR(mismatch(transfer.dataset, row, found));
    }
  }
  return Status();
}

// Checks every put that the transfer touches: reads it once more, whole, unless exactly that was
// read. Also checks what was never put.
Status SumChecker::check_touched(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found) {
  const uint64_t seen = hasher.unit_count() == 1 ? hasher.sums()[0] : 0;
  const DatasetEntry& entry = seen_.catalog[transfer.dataset];
  const ByteRange touched = touched_by(transfer, entry);
  for (int number : slabs_of_[static_cast<size_t>(transfer.dataset)]) {
    const SlabSum& slab = seen_.checksums.slabs[static_cast<size_t>(number)];
    if (!intersect(hull_of(slab), touched).empty() && !(is_same(transfer, entry, slab) && seen == slab.sum)) {
      STRIA_RETURN_IF_ERROR(check_slab(slab, found));
    }
  }
  return check_unwritten(transfer.dataset, touched, found);
}

Status SumChecker::check_transfer(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found) {
  const DatasetEntry& entry = seen_.catalog[transfer.dataset];
  if (!is_listed(transfer.dataset)) {
    return Status();
  }
  const bool by_rows = entry.checksum_group >= 0;
  bool all_known = by_rows;
  if (summed_by_rows(transfer, entry)) {
    STRIA_RETURN_IF_ERROR(check_rows(transfer, hasher, found, all_known));
  } else if (by_rows) {
    bool any_sum = false;
    const ByteRange rows = intersect({transfer.first_row, transfer.first_row + transfer.row_count}, {0, entry.own_rows()});
    STRIA_RETURN_IF_ERROR(check_stored_rows(transfer.dataset, rows, found, any_sum));
    all_known = seen_.checksums.is_full(entry.checksum_group);
  }
  return all_known ? Status() : check_touched(transfer, hasher, found);
}

Status SumChecker::check_sums(const std::vector<Transfer>& transfers, const TransferSet& set) {
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (seen_.catalog[transfers[i].dataset].is_lossy()) {
      continue;  // its chunks were compared as they are stored
    }
    std::vector<Damage> found;
    STRIA_RETURN_IF_ERROR(check_transfer(transfers[i], *set.sums(i), found));
    if (!found.empty()) {
      return damaged(found[0]);
    }
  }
  return Status();
}

// Local, for the rank that reads the table.
Status SumChecker::check_table(int number) {
  std::vector<Damage> found;
  for (int slab : slabs_of_[static_cast<size_t>(number)]) {
    STRIA_RETURN_IF_ERROR(check_slab(seen_.checksums.slabs[static_cast<size_t>(slab)], found));
  }
  return found.empty() ? Status() : damaged(found[0]);
}

}  // namespace stria::file
