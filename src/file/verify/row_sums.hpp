// The sums of rows that a file has in tables, read when they are wanted.
//
// Problem: many datasets share a table, and usually need the same of its rows. A sum of 0 says that
// a row was never put, which can be believed only of a table that is as it was written.
// Method: the rows that were read last are kept. A table is compared with its seal once, before its
// first 0 is believed.
// Cost: 8 bytes for each row and column that is kept.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "file/verify/summed_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// It lives as long as the file is open. Everything here is local.
class RowSums {
 public:
  /// Returns the sums of a dataset's rows, 0 where a row has none.
  Result<std::vector<uint64_t>> of_rows(const SummedFile& from, int dataset, int64_t first_row, int64_t row_count);
  /// Tells whether a table is as it was sealed. One whose seal is missing or unknown counts as
  /// right.
  Result<bool> is_right(const SummedFile& from, int table);
  /// Success where a 0 of the table says that a row was never put; else kCorrupted.
  Status believe_zeros(const SummedFile& from, int table);

 private:
  Status read(const SummedFile& from, int table, int64_t first_row, int64_t row_count);

  struct Kept {  // all columns
    int table = -1;
    int64_t first_row = 0;
    int64_t row_count = 0;
    std::vector<uint64_t> sums;
  };
  Kept kept_;
  std::set<int> believed_;  // tables
};

}  // namespace stria::file
