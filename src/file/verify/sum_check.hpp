// Data against the sums that the file has of them: what the checks of a get and those of a whole
// file share.
//
// Problem: what was put by rows has sums in tables, other puts records of their own, and what
// nobody put must read as the fill value.
// Method: each is compared by a function of its own. Where elements were put more than once, the
// sum of each put but one is wrong: a mismatch is no damage then (put_again.hpp).
// Cost: what is looked at is read once.
#pragma once

#include <utility>
#include <vector>

#include "file/verify/findings.hpp"
#include "file/verify/raw_data.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// One operation. Everything here is local; damages go to `found`.
class SumCheck {
 public:
  explicit SumCheck(const SummedFile& from) : from_(from), data_(from) {}

  const SummedFile& from() const { return from_; }
  /// Checks what a record sums. kFormat where it lies outside of its dataset.
  Status check_record(const SlabSum& slab, std::vector<Damage>& found);
  /// Checks the rows of a dataset that have sums in its table. Returns whether one of them has.
  Result<bool> check_rows(int dataset, ByteRange rows, std::vector<Damage>& found);
  /// Checks one row, which has the sum `expected`. `seen` is its own, or 0 where it has to be read
  /// again.
  Status check_row(int dataset, int64_t row, uint64_t expected, uint64_t seen, std::vector<Damage>& found);
  /// Checks the raw data of a dataset without a sum, which must have the fill value.
  Status check_unwritten(int dataset, ByteRange range, std::vector<Damage>& found);
  /// Checks all chunks that have bytes of a range, whose reading compares them with their sums.
  Status check_chunks(int dataset, ByteRange range, std::vector<Damage>& found);
  /// Rows that don't match their sums, but were put more than once; they are given up.
  std::vector<Damage> take_repeated() { return std::exchange(repeated_, {}); }

 private:
  Status mark_summed(int dataset, ByteRange window, std::vector<char>& marks);

  const SummedFile from_;
  RawData data_;
  std::vector<Damage> repeated_;
};

}  // namespace stria::file
