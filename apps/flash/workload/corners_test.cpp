#include "workload/corners.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace stria::flash {
namespace {

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

TEST(Corners, UseGuardCellsOnlyAtTheSurface) {
  const WorkloadParameters p{.nxb = 4, .nvar = 1, .guard_cells = 1};
  EXPECT_LT(expected_corner(p, {0, 0, 0, 0, 0}), 0.0F);  // 7 of its 8 cells are guard cells
  EXPECT_GE(expected_corner(p, {0, 0, 2, 2, 2}), 1.0F);
}

}  // namespace
}  // namespace stria::flash
