// Equal values are found equal. Values that differ in any way are not, even where their
// sum looks right.
#include "file/meet/equality_sums.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace stria::file {
namespace {

bool found_equal(const std::vector<uint64_t>& values) {
  std::array<int64_t, kEqualityTerms> sums{};
  for (uint64_t value : values) {
    const auto terms = equality_terms(value);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += terms[i];
    }
  }
  return all_equal(sums, static_cast<int>(values.size()));
}

TEST(EqualitySums, KnowEqualFromDifferent) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t value = i == 0 ? 0 : i == 1 ? ~uint64_t{0} : random();
    std::vector<uint64_t> values(1 + random() % 300, value);
    ASSERT_TRUE(found_equal(values)) << value;
    values[random() % values.size()] ^= uint64_t{1} << (random() % 64);
    ASSERT_EQ(found_equal(values), values.size() == 1) << value << " and one bit, " << values.size() << " ranks";
  }
}

TEST(EqualitySums, AreNotMisledByDifferencesThatCancel) {
  EXPECT_FALSE(found_equal({1000, 1001, 999}));
  EXPECT_FALSE(found_equal({uint64_t{5} << 32, uint64_t{6} << 32, uint64_t{4} << 32}));
  EXPECT_FALSE(found_equal({0x10000, 0xffff, 0x10001}));
}

TEST(EqualitySums, HoldForAsManyRanksAsThereMayBe) {
  std::vector<uint64_t> values((size_t{1} << 17) - 1, ~uint64_t{0});
  EXPECT_TRUE(found_equal(values));
  // This is the largest difference.
  std::fill(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), 0);
  EXPECT_FALSE(found_equal(values));
}

}  // namespace
}  // namespace stria::file
