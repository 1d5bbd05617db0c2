#include "file/verify/get_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/fill_value.hpp"
#include "file/verify/row_sums.hpp"
#include "file/verify/sum_check.hpp"

namespace stria::file {

namespace {

// Returns the sum of a row that nobody has put.
uint64_t sum_of_unwritten(const DatasetEntry& entry) {
  constexpr int64_t kAtOnceBytes = 64 << 10;  // the bytes of whole elements
  std::vector<std::byte> values(static_cast<size_t>(std::min(entry.row_bytes(), kAtOnceBytes)));
  container::lay_fill_value(entry.spec.fill_value, values);
  StreamingHash hash;
  for (int64_t left = entry.row_bytes(); left > 0; left -= kAtOnceBytes) {
    hash.update(std::span(values).first(static_cast<size_t>(std::min(left, kAtOnceBytes))));
  }
  return std::max<uint64_t>(hash.digest(), 1);
}

// Returns the raw data from the first byte of a transfer to the last, or, where rows lie among
// others', of its rows, but for those that another program has added.
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

// Tells whether the transfer is just what the record sums, in one piece.
bool is_same(const Transfer& transfer, const DatasetEntry& entry, const SlabSum& slab) {
  return !entry.is_interleaved() && transfer.region.is_contiguous() && slab.region.is_contiguous() &&
         transfer.region.size() == slab.region.size() &&
         transfer.displacement + transfer.region.true_lower_bound() == slab.displacement + slab.region.true_lower_bound();
}

Status damaged(const SummedFile& from, const Damage& damage) {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}': dataset '{}', rows {} to {}: the data don't match their checksum",
                                                   from.path, damage.dataset, damage.first_row, damage.last_row - 1));
}

// Whole rows that have passed by. Those that did so out of order are few, and read again. Whether
// all have a sum of their own, or were never put.
Result<bool> check_passed_rows(SumCheck& check, const Transfer& get, const UnitHasher& hasher, std::vector<Damage>& found) {
  const SummedFile& from = check.from();
  const DatasetEntry& entry = from.catalog[get.dataset];
  const int64_t count = std::clamp<int64_t>(entry.own_rows() - get.first_row, 0, get.row_count);
  if (count == 0) {
    return true;
  }
  STRIA_ASSIGN_OR_RETURN(const auto stored, from.rows.of_rows(from, get.dataset, get.first_row, count));
  const bool has_records = !from.records.of(get.dataset).empty();
  bool all_known = true;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t expected = stored[static_cast<size_t>(i)];
    if (expected == 0) {
      STRIA_RETURN_IF_ERROR(from.rows.believe_zeros(from, entry.checksum_group));
      if (has_records) {
        all_known = false;  // one of them may sum the row
        continue;
      }
      expected = sum_of_unwritten(entry);
    }
    STRIA_RETURN_IF_ERROR(
        check.check_row(get.dataset, get.first_row + i, expected, hasher.sums()[static_cast<size_t>(i)], found));
  }
  return all_known;
}

// Checks every put that the get touches: reads it once more, whole, unless exactly that was read.
// Also checks what was never put.
Status check_touched(SumCheck& check, const Transfer& get, const UnitHasher& hasher, std::vector<Damage>& found) {
  const SummedFile& from = check.from();
  const uint64_t seen = hasher.unit_count() == 1 ? hasher.sums()[0] : 0;
  const DatasetEntry& entry = from.catalog[get.dataset];
  const ByteRange touched = touched_by(get, entry);
  for (const int number : from.records.of(get.dataset)) {
    const SlabSum& slab = from.sums.slabs[static_cast<size_t>(number)];
    if (!intersect(hull_of(slab), touched).empty() && !(is_same(get, entry, slab) && seen == slab.sum)) {
      STRIA_RETURN_IF_ERROR(check.check_record(slab, found));
    }
  }
  return check.check_unwritten(get.dataset, touched, found);
}

Status check_get(SumCheck& check, const Transfer& get, const UnitHasher& hasher, std::vector<Damage>& found) {
  const SummedFile& from = check.from();
  const DatasetEntry& entry = from.catalog[get.dataset];
  if (!from.records.is_listed(get.dataset)) {
    return Status();
  }
  bool all_known = false;
  if (summed_by_rows(get, entry)) {
    STRIA_ASSIGN_OR_RETURN(all_known, check_passed_rows(check, get, hasher, found));
  } else if (entry.checksum_group >= 0) {
    const ByteRange rows = intersect({get.first_row, get.first_row + get.row_count}, {0, entry.own_rows()});
    STRIA_RETURN_IF_ERROR(check.check_rows(get.dataset, rows, found).status());
    all_known = from.sums.is_full(entry.checksum_group);
  }
  return all_known ? Status() : check_touched(check, get, hasher, found);
}

}  // namespace

Status check_gets(const SummedFile& from, const std::vector<Transfer>& gets, const TransferSet& set) {
  SumCheck check(from);
  for (size_t i = 0; i < gets.size(); ++i) {
    if (from.catalog[gets[i].dataset].is_lossy()) {
      continue;  // its chunks were compared as they are stored
    }
    std::vector<Damage> found;
    STRIA_RETURN_IF_ERROR(check_get(check, gets[i], *set.sums(i), found));
    if (!found.empty()) {
      return damaged(from, found[0]);
    }
  }
  return Status();
}

Status check_small(const SummedFile& from, int dataset) {
  SumCheck check(from);
  std::vector<Damage> found;
  for (const int number : from.records.of(dataset)) {
    STRIA_RETURN_IF_ERROR(check.check_record(from.sums.slabs[static_cast<size_t>(number)], found));
  }
  return found.empty() ? Status() : damaged(from, found[0]);
}

}  // namespace stria::file
