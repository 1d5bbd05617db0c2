// Half precision: every number there and back, and the nearest of others by looking at all.
#include "datatype/convert/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace stria {
namespace {

constexpr uint16_t kInfinity = 0x7c00;

TEST(HalfTest, EveryNumberComesBack) {
  for (uint32_t bits = 0; bits <= UINT16_MAX; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float wide = widen_half(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(widen_half(narrow_to_half(wide)))) << bits;
    } else {
      ASSERT_EQ(narrow_to_half(wide), half) << bits;
    }
  }
}

TEST(HalfTest, HasTheValuesThatTheStandardGives) {
  EXPECT_EQ(widen_half(0x3c00), 1.0f);
  EXPECT_EQ(widen_half(0xc000), -2.0f);
  EXPECT_EQ(widen_half(0x7bff), 65504.0f);
  EXPECT_EQ(widen_half(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(widen_half(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(narrow_to_half(65519.999), 0x7bff);
  EXPECT_EQ(narrow_to_half(65520), kInfinity);
  EXPECT_EQ(narrow_to_half(-1e300), 0x8000 | kInfinity);
  EXPECT_EQ(narrow_to_half(-0.0), 0x8000);
  EXPECT_EQ(narrow_to_half(1e-300), 0);
}

// Looks, the naive way, at all numbers, and takes the nearest, of two the one whose last bit is 0.
uint16_t nearest(double value) {
  uint16_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (uint16_t bits = 0; bits < kInfinity; ++bits) {
    const double distance = std::fabs(static_cast<double>(widen_half(bits)) - value);
    if (distance < least || (distance == least && (bits & 1) == 0)) {
      best = bits;
      least = distance;
    }
  }
  return best;
}

TEST(HalfTest, RoundsToTheNearest) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> exponent(-26, 15.9);
  std::vector<double> values = {std::ldexp(1, -25), std::ldexp(3, -25), 2049.0, 2051.0, 1 + std::ldexp(1, -11)};
  for (int i = 0; i < 200; ++i) {
    values.push_back(std::exp2(exponent(random)));
  }
  for (const double value : values) {
    EXPECT_EQ(narrow_to_half(value), nearest(value)) << "seed " << kSeed << ", value " << value;
    EXPECT_EQ(narrow_to_half(-value), 0x8000 | nearest(value)) << value;
  }
}

}  // namespace
}  // namespace stria
