// Values at the corners of cells, for plot files "with corners" (Ross et al., 2001): (n+1)^dim
// values per block.
//
// Method: each corner is the mean of the 2^dim cells around it, guard cells included, so that the
// blocks of one level agree on the values that they share.
// Cost: 2^dim additions per corner.
#pragma once

#include <cstdint>

#include "mesh/block_shape.hpp"

namespace stria::flash {

/// Corners in one block: (n+1)^dim.
inline int64_t corner_count(const BlockShape& shape) {
  return static_cast<int64_t>(shape.cells[0] + 1) * (shape.cells[1] + 1) * (shape.dim == 3 ? shape.cells[2] + 1 : 1);
}

/// Interpolates variable `v` of one block to its corners. Reads one guard cell around.
/// \param block first double of the block in unk \param corners room for corner_count(shape)
/// values, x fastest
template <typename T>
void interpolate_to_corners(const BlockShape& shape, const double* block, int v, T* corners) {
  const int depth = shape.dim == 3 ? 2 : 1;
  const double share = 1.0 / (4 * depth);
  CellBox box{{0, 0, 0}, {shape.cells[0] + 1, shape.cells[1] + 1, shape.dim == 3 ? shape.cells[2] + 1 : 1}};
  for_each_cell(box, [&](int i, int j, int k) {
    double sum = 0;
    for (int below = depth - 1; below >= 0; --below) {
      const double* cell = block + shape.offset(i, j, k - below) + v;
      sum += cell[-shape.stride(0) - shape.stride(1)] + cell[-shape.stride(1)] + cell[-shape.stride(0)] + cell[0];
    }
    *corners++ = static_cast<T>(sum * share);
  });
}

}  // namespace stria::flash
