#include "file/verify/put_again.hpp"

#include <algorithm>

#include "datatype/cursor.hpp"
#include "file/verify/row_sums.hpp"

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

// Tells whether another record has some of the region.
bool is_in_other_record(const SummedFile& from, int dataset, const SlabSum& slab) {
  const auto others = from.records.of(dataset);
  return std::any_of(others.begin(), others.end(), [&](int number) {
    const SlabSum& other = from.sums.slabs[static_cast<size_t>(number)];
    return &other != &slab && !intersect(hull_of(other), hull_of(slab)).empty() && have_common_bytes(other, slab);
  });
}

// Tells whether a row of the region that has a sum of its own holds some of it.
Result<bool> is_in_summed_row(const SummedFile& from, int dataset, const SlabSum& slab) {
  const DatasetEntry& entry = from.catalog[dataset];
  if (entry.checksum_group < 0) {
    return false;
  }
  const int64_t row_bytes = entry.row_bytes();
  for (Cursor cursor(slab.region, slab.displacement); !cursor.done();) {
    const int64_t row = cursor.piece().begin / row_bytes;
    STRIA_ASSIGN_OR_RETURN(const auto sums, from.rows.of_rows(from, dataset, row, 1));
    if (sums[0] != 0) {
      return true;
    }
    cursor.seek_offset((row + 1) * row_bytes);
  }
  return false;
}

// Where rows lie among each other there is no room for records of those that were put again.
bool may_any_be_put_again(const SummedFile& from, int dataset) {
  const auto datasets = from.catalog.datasets();
  const int group = from.catalog[dataset].checksum_group;
  return group >= 0 && from.sums.is_sealed && from.sums.seal.tables[static_cast<size_t>(group)].count == TableSeal::kUnknown &&
         std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& one) { return one.is_interleaved(); });
}

}  // namespace

Result<bool> shares_record(const SummedFile& from, int dataset, const SlabSum& slab) {
  return is_in_other_record(from, dataset, slab) ? Result<bool>(true) : is_in_summed_row(from, dataset, slab);
}

bool shares_row(const SummedFile& from, int dataset, int64_t row) {
  const int64_t row_bytes = from.catalog[dataset].row_bytes();
  const SlabSum whole{.dataset = dataset, .displacement = row * row_bytes, .region = Datatype::bytes(row_bytes)};
  const auto put_again = from.records.put_again(dataset);
  return std::any_of(put_again.begin(), put_again.end(),
                     [&](const ByteRange& range) { return !intersect(range, hull_of(whole)).empty(); }) ||
         may_any_be_put_again(from, dataset) || is_in_other_record(from, dataset, whole);
}

}  // namespace stria::file
