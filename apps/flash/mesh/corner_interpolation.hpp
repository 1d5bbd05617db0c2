// Values at the corners of cells, for plot files "with corners" (Ross et al., 2001): (n+1)^dim
// values per block.
//
// Method: each corner is the mean of the 2^dim cells around it, guard cells included, so that the
// blocks of one level agree on the values that they share. Rows of all wanted variables are read
// together. Sums of neighbours along x, then y, then z are kept.
// Cost: every cache line of the block is read once; dim additions per corner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/block_shape.hpp"

namespace stria::flash {

/// Corners in one block: (n+1)^dim.
inline int64_t corner_count(const BlockShape& shape) {
  return static_cast<int64_t>(shape.cells[0] + 1) * (shape.cells[1] + 1) * (shape.dim == 3 ? shape.cells[2] + 1 : 1);
}

/// Interpolates some variables of one block to its corners. Reads one guard cell around.
/// \param block first double of the block in unk \param corners for each variable, room for
/// corner_count(shape) values, x fastest \pre there is a variable
template <typename T>
void interpolate_to_corners(const BlockShape& shape, const double* block, std::span<const int> variables, T* const* corners) {
  const int64_t nx = shape.cells[0] + 1;
  const int64_t ny = shape.cells[1] + 1;
  const int64_t nz = shape.dim == 3 ? shape.cells[2] + 1 : 1;
  const bool is_deep = shape.dim == 3;
  const double share = is_deep ? 0.125 : 0.25;
  const auto count = static_cast<int64_t>(variables.size());
  // Sums along x of two rows; those of the plane below, along x and y.
  std::vector<double> pairs(static_cast<size_t>(2 * count * nx));
  std::vector<double> squares(static_cast<size_t>(count * nx * ny));
  const auto pairs_of = [&](int64_t row, int64_t v) { return pairs.data() + ((row & 1) * count + v) * nx; };
  for (int64_t k = is_deep ? -1 : 0; k < nz; ++k) {
    for (int64_t j = -1; j < ny; ++j) {
      const double* row = block + shape.offset(-1, static_cast<int>(j), static_cast<int>(k));
      for (int64_t i = 0; i <= nx; ++i) {  // the next row, because guard cells lie between
        __builtin_prefetch(row + shape.stride(1) + i * shape.stride(0) + variables[0], 0, 3);
      }
      for (int64_t v = 0; v < count; ++v) {
        double* here = pairs_of(j, v);
        const double* cell = row + variables[static_cast<size_t>(v)];
        for (int64_t i = 0; i < nx; ++i, cell += shape.stride(0)) {
          here[i] = cell[0] + cell[shape.stride(0)];
        }
        if (j < 0) {
          continue;
        }
        const double* before = pairs_of(j - 1, v);
        double* below = squares.data() + (v * ny + j) * nx;
        T* out = corners[v] + (k * ny + j) * nx;
        for (int64_t i = 0; i < nx; ++i) {
          const double square = before[i] + here[i];
          if (k >= 0) {
            out[i] = static_cast<T>((is_deep ? below[i] + square : square) * share);
          }
          below[i] = square;
        }
      }
    }
  }
}

}  // namespace stria::flash
