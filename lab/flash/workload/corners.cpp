#include "workload/corners.hpp"

#include <cassert>

#include "mesh/corners/corner_interpolation.hpp"

namespace stria::flash {

void average_to_corners(const Unk& unk, int64_t block, std::span<const int> variables, float* const* corners) {
  assert(unk.parameters().guard_cells >= 1);
  const WorkloadParameters& p = unk.parameters();
  const auto side = static_cast<int>(p.nxb);
  const auto guards = static_cast<int>(p.guard_cells);
  const BlockShape shape{3, static_cast<int>(p.nvar), {side, side, side}, {guards, guards, guards}};
  interpolate_to_corners(shape, unk.data() + block * unk.stride_block(), variables, corners);
}

float expected_corner(const WorkloadParameters& parameters, const CellPlace& corner) {
  double sum = 0;
  for (int64_t cell = 0; cell < 8; ++cell) {
    CellPlace place = corner;
    place.i += (cell & 1) - 1;
    place.j += (cell >> 1 & 1) - 1;
    place.k += (cell >> 2 & 1) - 1;
    sum += expected_value(parameters, place);
  }
  return static_cast<float>(sum / 8);
}

}  // namespace stria::flash
