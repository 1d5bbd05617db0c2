// Knows where the elements of a dataset lie in its chunks.
//
// Problem: raw data are counted in the dataset's C order, chunks hold boxes.
// Method: a run is a stretch of raw data that is a stretch of one chunk as well. Dimensions that a
// chunk has whole at its end are one dimension for it, so that a chunk of whole rows is one run.
// Cost: O(dimensions) a run, no memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "container/chunking.hpp"
#include "container/spec.hpp"

namespace stria::container {

class ChunkGrid {
 public:
  /// A stretch of raw data in one chunk.
  struct Run {
    int64_t begin = 0;  ///< in the raw data
    int64_t bytes = 0;
    int64_t chunk = 0;
    int64_t offset = 0;  ///< in the chunk
  };

  /// \pre the spec is cut into chunks, as check_chunking() wants it
  explicit ChunkGrid(const DatasetSpec& spec);

  int64_t chunk_count() const { return chunk_count_; }
  int64_t chunk_bytes() const { return chunk_bytes_; }
  /// Returns how many chunks lie along a dimension.
  int64_t chunks_along(size_t dim) const { return across_[dim]; }
  const std::vector<int64_t>& chunk_dims() const { return chunk_; }
  /// The index of a chunk's first element, in each dimension. \pre 0 <= chunk < chunk_count()
  std::vector<int64_t> first_index(int64_t chunk) const;
  /// The rows of the first dimension that a chunk has elements of. \pre as of first_index()
  ByteRange rows(int64_t chunk) const;
  /// Returns the run from byte `byte` of the raw data on. \pre it is a byte of them
  Run run_at(int64_t byte) const;
  /// Visits all runs of a chunk, in the order of both.
  template <typename Visit>
  void for_each_run(int64_t chunk, Visit&& visit) const;

 private:
  std::vector<int64_t> dims_, chunk_, across_;
  size_t joined_ = 0;        // the dimension along which a run goes
  int64_t inner_bytes_ = 1;  // the bytes of one index of that dimension
  int64_t chunk_count_ = 1;
  int64_t chunk_bytes_ = 1;
  int64_t raw_bytes_ = 1;  // the bytes of the dataset
};

/// Tells whether a dataset can be cut so: kInvalidArgument says why not.
Status check_chunking(const DatasetSpec& spec);

template <typename Visit>
void ChunkGrid::for_each_run(int64_t chunk, Visit&& visit) const {
  const std::vector<int64_t> first = first_index(chunk);
  std::vector<int64_t> at(joined_, 0);  // within the chunk
  const int64_t run = std::min(chunk_[joined_], dims_[joined_] - first[joined_]) * inner_bytes_;
  while (true) {
    int64_t begin = 0;
    int64_t offset = 0;
    for (size_t dim = 0; dim < joined_; ++dim) {
      begin = begin * dims_[dim] + first[dim] + at[dim];
      offset = offset * chunk_[dim] + at[dim];
    }
    visit(Run{(begin * dims_[joined_] + first[joined_]) * inner_bytes_, run, chunk, offset * chunk_[joined_] * inner_bytes_});
    size_t dim = joined_;
    while (dim > 0 && ++at[dim - 1] == std::min(chunk_[dim - 1], dims_[dim - 1] - first[dim - 1])) {
      at[--dim] = 0;
    }
    if (dim == 0) {
      return;
    }
  }
}

}  // namespace stria::container
