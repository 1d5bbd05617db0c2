#include "base/byte_range.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/checked.hpp"

namespace stria {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(ByteRange, IntersectionHoldsExactlyTheCommonBytes) {
  const unsigned seed = 20120501;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> offset(0, 12);
  for (int round = 0; round < 2000; ++round) {
    const ByteRange a{offset(random), offset(random)};
    const ByteRange b{offset(random), offset(random)};
    const ByteRange both = intersect(a, b);
    int64_t count = 0;
    for (int64_t i = 0; i <= 12; ++i) {
      EXPECT_EQ(both.contains(i), a.contains(i) && b.contains(i)) << "seed " << seed << " round " << round << " byte " << i;
      count += both.contains(i) ? 1 : 0;
    }
    EXPECT_EQ(both.size(), count) << "seed " << seed << " round " << round;
    EXPECT_EQ(both.empty(), count == 0);
  }
}

TEST(ByteRange, AlignsToTheNearestMultiples) {
  for (const int64_t unit : {1, 3, 512}) {
    for (int64_t value = 0; value < 2000; ++value) {
      const int64_t down = align_down(value, unit);
      const int64_t up = align_up(value, unit);
      EXPECT_EQ(down % unit, 0);
      EXPECT_EQ(up % unit, 0);
      EXPECT_TRUE(down <= value && value - down < unit);
      EXPECT_TRUE(value <= up && up - value < unit);
    }
  }
}

TEST(Checked, ReportsWhatDoesNotFit) {
  int64_t result = 0;
  ASSERT_TRUE(checked_add(kMax - 1, 1, &result));
  EXPECT_EQ(result, kMax);
  EXPECT_FALSE(checked_add(kMax, 1, &result));
  EXPECT_FALSE(checked_add(kMin, -1, &result));
  ASSERT_TRUE(checked_multiply(int64_t{1} << 31, int64_t{1} << 31, &result));
  EXPECT_EQ(result, int64_t{1} << 62);
  EXPECT_FALSE(checked_multiply(int64_t{1} << 32, int64_t{1} << 31, &result));
  EXPECT_FALSE(checked_multiply(kMin, -1, &result));
}

}  // namespace
}  // namespace stria
