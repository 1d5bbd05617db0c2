// The plot file's corner values: a block's (n+1)^3 corners, each the average of the 8 cells
// around it (Ross 2001). The outermost corners use the first layer of guard cells, as FLASH
// does. The average is exact, so the order of the sum does not matter, and results can be
// compared byte by byte.
#pragma once

#include <cstdint>
#include <span>

#include "workload/unk.hpp"

namespace stria::flash {

/// Count the corners of a block along one side and in all.
inline int64_t corners_per_side(const WorkloadParameters& p) {
  return p.nxb + 1;
}
inline int64_t corners_per_block(const WorkloadParameters& p) {
  return corners_per_side(p) * corners_per_side(p) * corners_per_side(p);
}

/// Averages some variables of a local block onto its corners. `corners` has, for each, room for
/// corners_per_block values, i fastest.
/// \pre at least one layer of guard cells
void average_to_corners(const Unk& unk, int64_t block, std::span<const int> variables, float* const* corners);

/// Returns the value of one corner; `i`, `j`, `k` in [0, nxb], corner (0,0,0) before the first
/// interior cell. `block` is global.
float expected_corner(const WorkloadParameters& parameters, const CellPlace& corner);

}  // namespace stria::flash
