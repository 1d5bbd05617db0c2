// Holds what the kernels of the corners share: the order in which they pass the rows of a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/block_shape.hpp"

namespace stria::flash {

/// A block of which some variables are wanted at the corners.
struct CornerBlock {
  const BlockShape& shape;
  const double* cells;
  std::span<const int> variables;
  float* const* corners;
};

void interpolate_portable(const CornerBlock& block);
void interpolate_avx2(const CornerBlock& block);

namespace {  // each kernel is compiled with flags of its own, so the copies must not merge

/// Places in a cell, in doubles, of which each lies in another cache line than those before.
inline std::vector<int> line_points(std::span<const int> variables) {
  constexpr int kLineDoubles = 8;
  std::vector<int> sorted(variables.begin(), variables.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> points;
  for (const int variable : sorted) {
    if (points.empty() || variable - points.back() >= kLineDoubles) {
      points.push_back(variable);
    }
  }
  return points;
}

/// Calls visit(j, k, row, ahead) for all rows of a block with a layer of guard cells around.
/// `ahead` is the row to ask for meanwhile: the next one, of the next block in the end. It goes to
/// the second-level cache, because the first level keeps too few lines under way.
template <typename Visit>
void for_each_corner_row(const CornerBlock& block, Visit visit) {
  const BlockShape& shape = block.shape;
  const int ny = shape.cells[1] + 1;
  const int first = shape.dim == 3 ? -1 : 0;
  const int nz = shape.dim == 3 ? shape.cells[2] + 1 : 1;
  for (int k = first; k < nz; ++k) {
    for (int j = -1; j < ny; ++j) {
      int64_t ahead = shape.offset(-1, j + 1, k);
      if (j + 1 == ny) {
        ahead = k + 1 < nz ? shape.offset(-1, -1, k + 1) : shape.block_doubles() + shape.offset(-1, -1, first);
      }
      visit(j, k, block.cells + shape.offset(-1, j, k), block.cells + ahead);
    }
  }
}

}  // namespace

}  // namespace stria::flash
