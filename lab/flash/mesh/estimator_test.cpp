#include "mesh/estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mesh/corners/corner_interpolation.hpp"

namespace stria::flash {
namespace {

// Returns one block of one variable, filled with f(i, j, k) also in its guard cells.
template <typename Field>
std::vector<double> fill(const BlockShape& shape, Field&& f) {
  std::vector<double> block(static_cast<std::size_t>(shape.block_doubles()));
  CellBox all;
  for (int d = 0; d < 3; ++d) {
    all.lo[d] = -shape.guards[d];
    all.hi[d] = shape.cells[d] + shape.guards[d];
  }
  for_each_cell(all, [&](int i, int j, int k) { block[shape.offset(i, j, k)] = f(i, j, k); });
  return block;
}

class Estimator : public testing::TestWithParam<int> {
 protected:
  BlockShape shape_ = BlockShape::make(GetParam(), 8, 1);
  RefinementCriteria criteria_{{0}, 0.8, 0.2, 0.01};
};

TEST_P(Estimator, SeesNothingInConstantAndLinearFields) {
  auto constant = fill(shape_, [](int, int, int) { return 3.0; });
  EXPECT_EQ(second_derivative_error(shape_, constant.data(), 0, 0.01), 0.0);
  EXPECT_EQ(estimate_mark(shape_, constant.data(), criteria_), Mark::kCoarsen);
  auto linear = fill(shape_, [](int i, int j, int k) { return 100.0 + i + 2.0 * j - 4.0 * k; });
  EXPECT_LT(second_derivative_error(shape_, linear.data(), 0, 0.01), 1e-12);
  auto zero = fill(shape_, [](int, int, int) { return 0.0; });
  EXPECT_EQ(estimate_mark(shape_, zero.data(), criteria_), Mark::kCoarsen);
}

TEST_P(Estimator, RefinesAtAJumpAlsoJustOutsideTheBlock) {
  for (int at : {4, 8, 9}) {
    auto jump = fill(shape_, [&](int i, int, int) { return i < at ? 6.0 : 1.0; });
    EXPECT_EQ(estimate_mark(shape_, jump.data(), criteria_), Mark::kRefine) << "jump at cell " << at;
  }
  // The block doesn't see it, but its parent would.
  auto near = fill(shape_, [](int i, int, int) { return i < 10 ? 6.0 : 1.0; });
  EXPECT_EQ(estimate_mark(shape_, near.data(), criteria_), Mark::kKeep);
  auto far = fill(shape_, [](int i, int, int) { return i < 12 ? 6.0 : 1.0; });
  EXPECT_EQ(estimate_mark(shape_, far.data(), criteria_), Mark::kCoarsen);
}

TEST_P(Estimator, MatchesTheFormulaOnASineWave) {
  auto wave = fill(shape_, [](int i, int, int) { return 10 + std::sin(0.7 * i); });
  double expected = 0;
  for (int i = 0; i < 8; ++i) {
    auto u = [](int c) { return 10 + std::sin(0.7 * c); };
    double second = u(i + 2) - 2 * u(i) + u(i - 2);
    double first = std::abs(u(i + 2) - u(i)) + std::abs(u(i) - u(i - 2));
    // The filter's terms of all dimension pairs count, even where nothing changes along them.
    double mean_xx = std::abs(u(i + 2)) + 2 * std::abs(u(i)) + std::abs(u(i - 2));
    double mean_xy = 2 * (std::abs(u(i + 1)) + std::abs(u(i - 1)));
    double mean_yy = 4 * std::abs(u(i));
    double cross = 2 * std::abs(u(i + 1) - u(i - 1));
    double denominator = std::pow(first + 0.01 * mean_xx, 2);
    int others = GetParam() - 1;
    denominator += others * (std::pow(cross + 0.01 * mean_xy, 2) + std::pow(0.01 * mean_xy, 2));
    denominator += others * others * std::pow(0.01 * mean_yy, 2);
    expected = std::max(expected, std::sqrt(second * second / denominator));
  }
  EXPECT_NEAR(second_derivative_error(shape_, wave.data(), 0, 0.01), expected, 1e-12);
}

TEST_P(Estimator, CornersOfLinearFieldsAreExact) {
  auto f = [](double i, double j, double k) { return 1 + 2 * i - 3 * j + 5 * k; };
  auto linear = fill(shape_, [&](int i, int j, int k) { return f(i + 0.5, j + 0.5, GetParam() == 3 ? k + 0.5 : 0); });
  std::vector<float> corners(static_cast<std::size_t>(corner_count(shape_)));
  ASSERT_EQ(corners.size(), GetParam() == 3 ? 729u : 81u);
  const int variable = 0;
  float* out = corners.data();
  interpolate_to_corners(shape_, linear.data(), std::span(&variable, 1), &out);
  for (std::size_t c = 0; c < corners.size(); ++c) {
    EXPECT_FLOAT_EQ(corners[c], static_cast<float>(f(static_cast<double>(c % 9), static_cast<double>(c / 9 % 9),
                                                     static_cast<double>(c / 81))));
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Estimator, testing::Values(2, 3));

}  // namespace
}  // namespace stria::flash
