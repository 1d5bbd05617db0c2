#include "mesh/corners/corner_interpolation.hpp"

#include <cassert>

#include "mesh/corners/corner_rows.hpp"

namespace stria::flash {

bool kernel_available(CornerKernel kernel) {
#ifdef STRIA_FLASH_X86_KERNELS
  if (kernel == CornerKernel::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0;
  }
#endif
  return kernel == CornerKernel::kPortable;
}

CornerKernel best_corner_kernel() {
  return kernel_available(CornerKernel::kAvx2) ? CornerKernel::kAvx2 : CornerKernel::kPortable;
}

void interpolate_portable(const CornerBlock& block) {
  const BlockShape& shape = block.shape;
  const int64_t nx = shape.cells[0] + 1;
  const int64_t ny = shape.cells[1] + 1;
  const bool is_deep = shape.dim == 3;
  const double share = is_deep ? 0.125 : 0.25;
  const auto count = static_cast<int64_t>(block.variables.size());
  const std::vector<int> points = line_points(block.variables);
  // Sums along x of two rows; those of the plane below, along x and y.
  std::vector<double> pairs(static_cast<size_t>(2 * count * nx));
  std::vector<double> squares(static_cast<size_t>(count * nx * ny));
  const auto pairs_of = [&](int64_t row, int64_t v) { return pairs.data() + ((row & 1) * count + v) * nx; };
  for_each_corner_row(block, [&](int64_t j, int64_t k, const double* row, const double* ahead) {
    for (int64_t i = 0; i <= nx; ++i) {
      for (const int point : points) {
        __builtin_prefetch(ahead + i * shape.stride(0) + point, 0, 2);
      }
    }
    for (int64_t v = 0; v < count; ++v) {
      double* here = pairs_of(j, v);
      const double* cell = row + block.variables[static_cast<size_t>(v)];
      for (int64_t i = 0; i < nx; ++i, cell += shape.stride(0)) {
        here[i] = cell[0] + cell[shape.stride(0)];
      }
      if (j < 0) {
        continue;
      }
      const double* before = pairs_of(j - 1, v);
      double* below = squares.data() + (v * ny + j) * nx;
      float* out = block.corners[v] + (k * ny + j) * nx;
      for (int64_t i = 0; i < nx; ++i) {
        const double square = before[i] + here[i];
        if (k >= 0) {
          out[i] = static_cast<float>((below[i] + square) * share);
        }
        below[i] = square;
      }
    }
  });
}

void interpolate_to_corners(const BlockShape& shape, const double* block, std::span<const int> variables, float* const* corners,
                            CornerKernel kernel) {
  assert(kernel_available(kernel));
  if (variables.empty()) {
    return;
  }
  const CornerBlock wanted{shape, block, variables, corners};
#ifdef STRIA_FLASH_X86_KERNELS
  if (kernel == CornerKernel::kAvx2) {
    return interpolate_avx2(wanted);
  }
#endif
  (void)kernel;
  interpolate_portable(wanted);
}

}  // namespace stria::flash
