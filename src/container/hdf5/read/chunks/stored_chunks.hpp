// The chunks that a part of a dataset touches, as they are stored.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// The elements [start, start + count) of a dataset.
struct Part {
  std::span<const int64_t> start;
  std::span<const int64_t> count;

  bool is_empty() const { return std::find(count.begin(), count.end(), 0) != count.end(); }
};

/// Shows every run of a part along the last dimension: its first element, counted in C order, and
/// how many there are. Ends with the first error.
template <typename Visit>
Status for_each_run(std::span<const int64_t> dims, const Part& part, Visit&& visit) {
  if (dims.empty()) {
    return visit(0, 1);
  }
  const size_t last = dims.size() - 1;
  std::vector<int64_t> at(part.start.begin(), part.start.end());
  while (true) {
    int64_t element = 0;
    for (size_t dim = 0; dim <= last; ++dim) {
      element = element * dims[dim] + at[dim];
    }
    STRIA_RETURN_IF_ERROR(visit(element, part.count[last]));
    size_t dim = last;
    while (dim > 0 && ++at[dim - 1] == part.start[dim - 1] + part.count[dim - 1]) {
      at[dim - 1] = part.start[dim - 1];
      --dim;
    }
    if (dim == 0) {
      return Status();
    }
  }
}

/// One chunk of the grid.
struct ChunkAsStored {
  int64_t number = 0;
  uint32_t skipped = 0;  ///< the filters that it did not pass, by bits
  std::vector<std::byte> bytes;
};

/// Shows all chunks with elements of the part that are there. Ends with the first error. kCorrupted
/// when one can't be read, or is larger than any filter makes it. \pre the part isn't empty
Status for_each_stored_chunk(hid_t dataset, const ChunkGrid& grid, const Part& part,
                             const std::function<Status(const ChunkAsStored&)>& visit);

}  // namespace stria::container::h5
