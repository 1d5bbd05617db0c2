// Values at the corners of cells, for plot files "with corners" (Ross et al., 2001): (n+1)^dim
// values per block.
//
// Problem: variables are interleaved, so each cell costs a cache line or two, and the hardware
// doesn't follow rows of cells past the guard cells between them.
// Method: each corner is the mean of the 2^dim cells around it, guard cells included, so that the
// blocks of one level agree on the values that they share. Rows of all wanted variables are read
// together, four variables to a vector, while the lines of the next row are asked for. Sums of
// neighbours along x, then y, then z are kept.
// Cost: every cache line of the block is read once; dim additions per corner.
#pragma once

#include <cstdint>
#include <span>

#include "mesh/block_shape.hpp"

namespace stria::flash {

/// Counts the corners in one block: (n+1)^dim.
inline int64_t corner_count(const BlockShape& shape) {
  return static_cast<int64_t>(shape.cells[0] + 1) * (shape.cells[1] + 1) * (shape.dim == 3 ? shape.cells[2] + 1 : 1);
}

/// The same sums in the same order, by instructions that every processor has, or by its vectors.
enum class CornerKernel { kPortable, kAvx2 };

bool kernel_available(CornerKernel kernel);
CornerKernel best_corner_kernel();

/// Interpolates some variables of one block to its corners. Reads one guard cell around.
/// \param block first double of the block in unk \param corners for each variable, room for
/// corner_count(shape) values, x fastest \pre kernel_available(kernel)
void interpolate_to_corners(const BlockShape& shape, const double* block, std::span<const int> variables, float* const* corners,
                            CornerKernel kernel = best_corner_kernel());

}  // namespace stria::flash
