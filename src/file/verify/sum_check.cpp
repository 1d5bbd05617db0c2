#include "file/verify/sum_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/fill_value.hpp"
#include "datatype/cursor.hpp"
#include "file/verify/put_again.hpp"
#include "file/verify/row_sums.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostRowBytes = 4 << 20;  // read at once
constexpr int64_t kWindowBytes = 1 << 20;

}  // namespace

Status SumCheck::check_record(const SlabSum& slab, std::vector<Damage>& found) {
  const auto dataset = dataset_of(from_, slab);
  if (!dataset || slab.sum == kNoSum) {
    return Status();  // a name that is missing is damage of its own, or there is nothing to compare
  }
  const DatasetEntry& entry = from_.catalog[*dataset];
  if (!entry.is_readable()) {
    return Status();  // another program has filtered it since
  }
  const ByteRange hull = hull_of(slab);
  if (hull.end > entry.data_bytes() || hull.begin < 0) {
    return Status(ErrorCode::kFormat,
                  fmt::format("'{}': a checksum record lies outside of dataset '{}'", from_.path, entry.spec.path));
  }
  STRIA_ASSIGN_OR_RETURN(const uint64_t seen, data_.hash(*dataset, slab.region, slab.displacement, found));
  if (seen == slab.sum) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const bool is_shared, shares_record(from_, *dataset, slab));
  const int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
  add_damage(is_shared ? repeated_ : found, entry.spec.path, hull.begin / row_bytes, (hull.end + row_bytes - 1) / row_bytes);
  return Status();
}

Status SumCheck::check_row(int dataset, int64_t row, uint64_t expected, uint64_t seen, std::vector<Damage>& found) {
  if (seen == 0) {
    STRIA_ASSIGN_OR_RETURN(const auto again, data_.hash_rows(dataset, row, 1, found));
    seen = again[0];
  }
  if (seen != expected) {
    add_damage(shares_row(from_, dataset, row) ? repeated_ : found, from_.catalog[dataset].spec.path, row, row + 1);
  }
  return Status();
}

// Reads as many rows at a time as fit a buffer, with their part of the table of sums.
Result<bool> SumCheck::check_rows(int dataset, ByteRange rows, std::vector<Damage>& found) {
  const DatasetEntry& entry = from_.catalog[dataset];
  const int64_t sums_bytes = from_.sums.tables[static_cast<size_t>(entry.checksum_group)][2] * kRowSumBytes;
  const int64_t step = std::max<int64_t>(kMostRowBytes / std::max(entry.row_bytes(), sums_bytes), 1);
  bool any_sum = false;
  for (int64_t begin = rows.begin; begin < rows.end; begin += step) {
    const int64_t count = std::min(step, rows.end - begin);
    STRIA_ASSIGN_OR_RETURN(const auto stored, from_.rows.of_rows(from_, dataset, begin, count));
    STRIA_ASSIGN_OR_RETURN(const auto seen, data_.hash_rows(dataset, begin, count, found));
    for (size_t i = 0; i < stored.size(); ++i) {
      if (stored[i] != 0) {
        any_sum = true;
        STRIA_RETURN_IF_ERROR(check_row(dataset, begin + static_cast<int64_t>(i), stored[i], seen[i], found));
      }
    }
  }
  return any_sum;
}

// Marks the bytes of the window, which is one of the dataset's raw data, that have a sum.
Status SumCheck::mark_summed(int dataset, ByteRange window, std::vector<char>& marks) {
  const DatasetEntry& entry = from_.catalog[dataset];
  const auto mark = [&](ByteRange range) {
    const ByteRange inside = intersect(range, window);
    std::fill_n(marks.begin() + (inside.begin - window.begin), inside.size(), 1);
  };
  if (entry.checksum_group >= 0) {
    const int64_t row_bytes = entry.row_bytes();
    const int64_t first = window.begin / row_bytes;
    const int64_t count = (window.end + row_bytes - 1) / row_bytes - first;
    STRIA_ASSIGN_OR_RETURN(const auto sums, from_.rows.of_rows(from_, dataset, first, count));
    for (size_t i = 0; i < sums.size(); ++i) {
      const int64_t row = first + static_cast<int64_t>(i);
      if (sums[i] != 0) {
        mark({row * row_bytes, (row + 1) * row_bytes});
      }
    }
  }
  for (const int number : from_.records.of(dataset)) {
    const SlabSum& slab = from_.sums.slabs[static_cast<size_t>(number)];
    if (intersect(hull_of(slab), window).empty()) {
      continue;
    }
    Cursor cursor(slab.region, slab.displacement);
    for (cursor.seek_offset(window.begin); !cursor.done() && cursor.piece().begin < window.end;
         cursor.advance(cursor.piece().size())) {
      mark(cursor.piece());
    }
  }
  return Status();
}

Status SumCheck::check_unwritten(int dataset, ByteRange range, std::vector<Damage>& found) {
  const DatasetEntry& entry = from_.catalog[dataset];
  const int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
  std::vector<char> marks;
  std::vector<std::byte> data;
  for (int64_t begin = range.begin; begin < range.end; begin += kWindowBytes) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from_.signal));
    const ByteRange window{begin, std::min(begin + kWindowBytes, range.end)};
    marks.assign(static_cast<size_t>(window.size()), 0);
    STRIA_RETURN_IF_ERROR(mark_summed(dataset, window, marks));
    if (std::find(marks.begin(), marks.end(), 0) == marks.end()) {
      continue;
    }
    data.resize(marks.size());
    STRIA_RETURN_IF_ERROR(data_.read(dataset, window, data.data(), found));
    for (size_t i = 0; i < data.size(); ++i) {
      if (marks[i] == 0 && data[i] != container::unwritten_byte(entry.spec.fill_value, begin + static_cast<int64_t>(i))) {
        const int64_t row = (begin + static_cast<int64_t>(i)) / row_bytes;
        add_damage(found, entry.spec.path, row, row + 1);
      }
    }
  }
  return Status();
}

Status SumCheck::check_chunks(int dataset, ByteRange range, std::vector<Damage>& found) {
  while (!range.empty()) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from_.signal));
    STRIA_ASSIGN_OR_RETURN(const auto data, data_.from_chunk(dataset, range, found));
    range.begin += static_cast<int64_t>(data.size());
  }
  return Status();
}

}  // namespace stria::file
