#include "workload/corners.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "mesh/corners/corner_interpolation.hpp"

namespace stria::flash {
namespace {

// Returns the mean of the cells around a corner, by sums along x, then y, then z.
float plain_corner(const BlockShape& shape, const double* cells, int i, int j, int k) {
  const auto pair = [&](int y, int z) { return cells[shape.offset(i - 1, y, z)] + cells[shape.offset(i, y, z)]; };
  const auto square = [&](int z) { return pair(j - 1, z) + pair(j, z); };
  return static_cast<float>(shape.dim == 3 ? (square(k - 1) + square(k)) / 8 : square(0) / 4);
}

TEST(Corners, AverageTheEightCellsAroundThem) {
  const WorkloadParameters p{.nxb = 4, .nvar = 3, .blocks_per_rank = 2, .guard_cells = 1};
  const auto unk = Unk::create(p, {.local = 2, .first = 5, .total = 9});
  ASSERT_TRUE(unk.ok());
  ASSERT_EQ(corners_per_block(p), 125);
  const int variables[] = {2, 0};
  std::vector<float> values(2 * 125);
  float* const corners_of[] = {values.data(), values.data() + 125};
  for (int64_t block = 0; block < 2; ++block) {
    average_to_corners(*unk, block, variables, corners_of);
    for (size_t n = 0; n < 2; ++n) {
      const int variable = variables[n];
      const float* corners = corners_of[n];
      size_t index = 0;
      for (int64_t k = 0; k < 5; ++k) {
        for (int64_t j = 0; j < 5; ++j) {
          for (int64_t i = 0; i < 5; ++i, ++index) {
            ASSERT_EQ(corners[index], expected_corner(p, {5 + block, variable, i, j, k})) << index;
          }
        }
      }
    }
  }
}

// Kernels sum in one order, so that they agree to the last bit.
TEST(Corners, OfEveryKernelAreThoseOfPlainLoops) {
  for (const int dim : {2, 3}) {
    for (const int side : {1, 4, 7, 8}) {
      const BlockShape shape = BlockShape::make(dim, side, 11);
      std::mt19937 random(static_cast<unsigned>(dim * 100 + side));
      std::vector<double> block(static_cast<size_t>(shape.block_doubles()));
      std::generate(block.begin(), block.end(), [&] { return std::ldexp(static_cast<double>(random()), -28) - 8; });
      for (const std::vector<int>& variables :
           {std::vector<int>{10}, {0, 6, 4, 10}, {3, 2, 1}, {9, 0, 1, 2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}) {
        const auto points = static_cast<size_t>(corner_count(shape));
        for (const CornerKernel kernel : {CornerKernel::kPortable, CornerKernel::kAvx2}) {
          if (!kernel_available(kernel)) {
            continue;
          }
          constexpr float kUntouched = -99;
          std::vector<std::vector<float>> corners(variables.size(), std::vector<float>(points + 1, kUntouched));
          std::vector<float*> places;
          for (auto& values : corners) {
            places.push_back(values.data());
          }
          interpolate_to_corners(shape, block.data(), variables, places.data(), kernel);
          for (size_t v = 0; v < variables.size(); ++v) {
            for (size_t at = 0; at < points; ++at) {
              const auto side_points = static_cast<size_t>(side + 1);
              const int i = static_cast<int>(at % side_points);
              const int j = static_cast<int>(at / side_points % side_points);
              const int k = static_cast<int>(at / side_points / side_points);
              ASSERT_EQ(corners[v][at], plain_corner(shape, block.data() + variables[v], i, j, k))
                  << "dim " << dim << ", side " << side << ", variable " << variables[v] << ", corner " << at;
            }
            ASSERT_EQ(corners[v][points], kUntouched);
          }
        }
      }
    }
  }
}

TEST(Corners, UseGuardCellsOnlyAtTheSurface) {
  const WorkloadParameters p{.nxb = 4, .nvar = 1, .guard_cells = 1};
  EXPECT_LT(expected_corner(p, {0, 0, 0, 0, 0}), 0.0F);  // 7 of its 8 cells are guard cells
  EXPECT_GE(expected_corner(p, {0, 0, 2, 2, 2}), 1.0F);
}

}  // namespace
}  // namespace stria::flash
