// Knows where the sums of rows lie, and what each rank writes there.
//
// Problem: a file of many small blocks has a sum per block and variable, and every rank
// knows some of them.
// Method: datasets with the same number of rows share a table, with one column each. The ranks
// write the table themselves, each its own part, in one piece where possible. The table's own sum
// adds up a hash of each place and its value, so that it doesn't depend on which rank wrote what;
// each rank sends its part of this sum to rank 0.
// Cost: 8 bytes and a hash of 16 per row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "file/define/catalog.hpp"
#include "storage/driver.hpp"

namespace stria::file {

inline constexpr int64_t kLeastRowBytes = 512;
/// What a row's sum takes in a table.
inline constexpr auto kRowSumBytes = static_cast<int64_t>(sizeof(uint64_t));

/// Datasets whose rows are summed in one table: they have the same number of rows.
struct RowTable {
  int64_t row_count = 0;
  std::vector<int> datasets;
  int64_t data_offset = -1;

  static std::string path(size_t number);
  /// Returns the table with that number, as a dataset.
  container::DatasetSpec spec(size_t number) const;
};

/// Groups the datasets into row tables and notes each one's place in its entry. Deterministic.
std::vector<RowTable> place_row_sums(std::span<DatasetEntry> datasets);

/// A sum of a row, with its table and its place there.
struct RowSum {
  int table = 0;
  int64_t index = 0;
  uint64_t sum = 0;
};

/// Says what a rank puts into a row table: at which places, and the sum over them of place_term().
struct TableShare {
  std::vector<ByteRange> places;  ///< counted in sums, not in bytes
  uint64_t sum = 0;
  std::vector<ByteRange> repeated{};  ///< places that had another sum before
};

/// Returns what a place of a row table adds to the table's own sum. A place without a sum, which
/// holds 0, adds nothing.
uint64_t place_term(int64_t place, uint64_t sum);

/// Row sums as they go into their tables: `segments` say where, and point into `values`.
struct RowSumBytes {
  std::vector<uint64_t> values;
  std::vector<storage::WriteSegment> segments;
  std::vector<TableShare> shares;  ///< one per table
};
/// Puts row sums at their places and joins neighbours. For a row that was put twice, the last sum
/// counts; where the first differs, its share says so.
RowSumBytes lay_out_row_sums(std::span<const RowTable> tables, std::vector<RowSum> sums);

/// A whole row table, however many ranks wrote it.
struct TableSeal {
  static constexpr int64_t kUnknown = -1;

  /// How many places hold a sum; kUnknown when some were written twice, so that either
  /// may stand there.
  int64_t count = 0;
  uint64_t sum = 0;  ///< the sum of place_term() over all of them
};
/// Joins what the ranks have put into a table. `repeated`, if given, gets the places whose rows may
/// hold something else than their sum tells: a rank put them again, or two ranks whose shares are
/// not the same.
TableSeal unite(std::vector<TableShare> shares, std::vector<ByteRange>* repeated = nullptr);

}  // namespace stria::file
