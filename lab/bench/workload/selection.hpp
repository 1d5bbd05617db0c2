// Describes which elements of an array are meant: HDF5's hyperslab, or a list of places.
//
// Problem: a workload goes through interfaces of four kinds, which want subarrays, vectors,
// hyperslabs or lists of pieces.
// Method: one description from which all of them follow, and a walk over its contiguous runs.
// Cost: memory for the description only; the walk takes some nanoseconds per run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stria::bench {

/// Selects elements of an array of `dims`, slowest dimension first: in each dimension `count`
/// blocks of `block` elements, `stride` apart, from `start`. They are taken in the array's order.
/// Only a selection of one dimension may have gaps between its blocks: with more dimensions it is a
/// box.
struct Selection {
  std::vector<int64_t> dims;
  std::vector<int64_t> start;
  std::vector<int64_t> count;
  std::vector<int64_t> stride;
  std::vector<int64_t> block;
  /// The elements with these indices, which increase, take the place of everything but `dims`,
  /// which then has one dimension.
  std::vector<int64_t> places{};

  /// Returns a box: [start, start + size) in each dimension.
  static Selection box(std::vector<int64_t> dims, std::vector<int64_t> start, std::vector<int64_t> size);
  /// Selects in one dimension.
  static Selection strided(int64_t length, int64_t start, int64_t count, int64_t stride, int64_t block);
  /// Returns all of an array.
  static Selection whole(std::vector<int64_t> dims);

  int64_t elements() const;
  bool is_box() const;
  /// Indices along one dimension, whatever their grouping in blocks.
  int64_t along(size_t dimension) const { return count[dimension] * block[dimension]; }
};

/// Counts the elements of an array of these dimensions.
int64_t product(const std::vector<int64_t>& dims);

/// Walks the contiguous runs of a selection in its order. Runs may touch where blocks do.
class Runs {
 public:
  explicit Runs(const Selection& selection);
  bool done() const { return left_ == 0; }
  int64_t offset() const { return offset_; }      ///< the offset of the run, in elements
  int64_t elements() const { return elements_; }  ///< the elements of each run
  void next();

 private:
  void find_offset();

  Selection selection_;
  std::vector<int64_t> row_elements_;  ///< by dimension, of one index
  std::vector<int64_t> steps_;         ///< runs along each dimension
  std::vector<int64_t> index_;
  size_t outer_ = 0;  ///< dimensions before the one in which a run lies
  int64_t elements_ = 0;
  int64_t offset_ = 0;
  int64_t left_ = 0;
};

}  // namespace stria::bench
