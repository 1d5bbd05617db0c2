// Data that don't match a sum: damage, or elements that were put more than once.
//
// Problem: of two puts with an element in common the file holds one value, and both sums. A mistake
// of the program, such as a box with its ghosts, must not look like a bad disk.
// Method: only where a sum is wrong are the other records of the dataset compared with its region,
// piece by piece, and the table of rows read there.
// Cost: none where all sums are right.
#include <algorithm>

#include "datatype/cursor.hpp"
#include "file/verify/sum_checker.hpp"

namespace stria::file {

namespace {

// Both regions are in the order of the file.
bool have_common_bytes(const SlabSum& a, const SlabSum& b) {
  Cursor of_a(a.region, a.displacement);
  Cursor of_b(b.region, b.displacement);
  while (!of_a.done() && !of_b.done()) {
    if (!intersect(of_a.piece(), of_b.piece()).empty()) {
      return true;
    }
    if (of_a.piece().begin < of_b.piece().begin) {
      of_a.seek_offset(of_b.piece().begin);
    } else {
      of_b.seek_offset(of_a.piece().begin);
    }
  }
  return false;
}

}  // namespace

// Whether a row of the region that has a sum of its own holds some of it.
Result<bool> SumChecker::shares_rows(const SlabSum& slab, int number) {
  const DatasetEntry& entry = seen_.catalog[number];
  if (entry.checksum_group < 0) {
    return false;
  }
  const int64_t row_bytes = entry.row_bytes();
  for (Cursor cursor(slab.region, slab.displacement); !cursor.done();) {
    const int64_t row = cursor.piece().begin / row_bytes;
    STRIA_ASSIGN_OR_RETURN(const auto sums, read_row_sums(number, row, 1));
    if (sums[0] != 0) {
      return true;
    }
    cursor.seek_offset((row + 1) * row_bytes);
  }
  return false;
}

// Whether another record has some of the region.
bool SumChecker::shares_record(const SlabSum& slab, int number) const {
  const auto& others = slabs_of_[static_cast<size_t>(number)];
  return std::any_of(others.begin(), others.end(), [&](int other_number) {
    const SlabSum& other = seen_.checksums.slabs[static_cast<size_t>(other_number)];
    return &other != &slab && !intersect(hull_of(other), hull_of(slab)).empty() && have_common_bytes(other, slab);
  });
}

// Where rows lie among each other there is no room for records of those that were put again.
bool SumChecker::is_any_repeated(int number) const {
  const auto datasets = seen_.catalog.datasets();
  const int group = seen_.catalog[number].checksum_group;
  return group >= 0 && seen_.checksums.is_sealed &&
         seen_.checksums.seal.tables[static_cast<size_t>(group)].count == TableSeal::kUnknown &&
         std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& one) { return one.is_interleaved(); });
}

Status SumChecker::mismatch(const SlabSum& slab, int number, std::vector<Damage>& found) {
  bool is_shared = shares_record(slab, number);
  if (!is_shared) {
    STRIA_ASSIGN_OR_RETURN(is_shared, shares_rows(slab, number));
  }
  const DatasetEntry& entry = seen_.catalog[number];
  const int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
  const ByteRange hull = hull_of(slab);
  add_damage(is_shared ? repeated_ : found, entry.spec.path, hull.begin / row_bytes, (hull.end + row_bytes - 1) / row_bytes);
  return Status();
}

Status SumChecker::mismatch(int number, int64_t row, std::vector<Damage>& found) {
  const DatasetEntry& entry = seen_.catalog[number];
  const SlabSum whole{.dataset = number, .displacement = row * entry.row_bytes(), .region = Datatype::bytes(entry.row_bytes())};
  const auto& repeated = repeated_of_[static_cast<size_t>(number)];
  const bool is_repeated = std::any_of(repeated.begin(), repeated.end(),
                                       [&](const ByteRange& range) { return !intersect(range, hull_of(whole)).empty(); });
  const bool is_shared = is_repeated || is_any_repeated(number) || shares_record(whole, number);
  add_damage(is_shared ? repeated_ : found, entry.spec.path, row, row + 1);
  return Status();
}

}  // namespace stria::file
