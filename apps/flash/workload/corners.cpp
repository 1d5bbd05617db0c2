#include "workload/corners.hpp"

namespace stria::flash {

void average_to_corners(const Unk& unk, int64_t block, int64_t variable, float* corners) {
  const int64_t side = corners_per_side(unk.parameters());
  const int64_t di = unk.stride_i();
  const int64_t dj = unk.stride_j();
  const int64_t dk = unk.stride_k();
  const double* first = unk.interior(block) + variable - di - dj - dk;
  for (int64_t k = 0; k < side; ++k) {
    for (int64_t j = 0; j < side; ++j) {
      const double* cell = first + k * dk + j * dj;
      for (int64_t i = 0; i < side; ++i, cell += di) {
        const double sum =
            cell[0] + cell[di] + cell[dj] + cell[di + dj] + cell[dk] + cell[di + dk] + cell[dj + dk] + cell[di + dj + dk];
        *corners++ = static_cast<float>(sum * 0.125);
      }
    }
  }
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
