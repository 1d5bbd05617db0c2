#include "workload/block_check.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "workload/corners.hpp"

namespace stria::flash {
namespace {

const WorkloadParameters kFourVariables{.nxb = 3, .nvar = 4, .guard_cells = 1};

template <typename T>
std::vector<T> packed(int64_t block, int64_t variable) {
  std::vector<T> values;
  for (int64_t cell = 0; cell < 27; ++cell) {
    values.push_back(static_cast<T>(expected_value(kFourVariables, {block, variable, cell % 3, cell / 3 % 3, cell / 9})));
  }
  return values;
}

TEST(BlockCheck, AcceptsTheRightBlock) {
  EXPECT_EQ(check_packed_block(kFourVariables, 6, 2, packed<double>(6, 2).data()), "");
  EXPECT_EQ(check_packed_block(kFourVariables, 6, 2, packed<float>(6, 2).data()), "");
}

TEST(BlockCheck, FindsAnotherBlockVariableAndExchangedCells) {
  EXPECT_NE(check_packed_block(kFourVariables, 6, 2, packed<double>(5, 2).data()), "");
  EXPECT_NE(check_packed_block(kFourVariables, 6, 2, packed<float>(6, 3).data()), "");
  std::vector<double> values = packed<double>(6, 2);
  std::swap(values[13], values[14]);
  const std::string wrong = check_packed_block(kFourVariables, 6, 2, values.data());
  EXPECT_NE(wrong.find("block 6, variable 2, cell i=1 j=1 k=1: expected"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("(block 6, variable 2, cell i=2 j=1 k=1)"), std::string::npos) << wrong;
}

TEST(BlockCheck, ChecksCorners) {
  const auto unk = Unk::create(kFourVariables, {.local = 1, .first = 3, .total = 4});
  ASSERT_TRUE(unk.ok());
  std::vector<float> corners(64);
  const int variable = 1;
  float* out = corners.data();
  average_to_corners(*unk, 0, std::span(&variable, 1), &out);
  EXPECT_EQ(check_packed_corners(kFourVariables, 3, 1, corners.data()), "");
  corners[63] += 0.001F;
  EXPECT_NE(check_packed_corners(kFourVariables, 3, 1, corners.data()).find("cell i=3 j=3 k=3"), std::string::npos);
}

}  // namespace
}  // namespace stria::flash
