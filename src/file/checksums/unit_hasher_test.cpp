#include "file/checksums/unit_hasher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stria::file {
namespace {

std::vector<std::byte> random_bytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& value : bytes) {
    value = static_cast<std::byte>(random() & 255);
  }
  return bytes;
}

uint64_t expected_sum(const std::vector<std::byte>& stream, const UnitHasher& hasher, int64_t unit) {
  uint64_t sum = hash_bytes(std::span(stream).subspan(static_cast<size_t>(hasher.unit_begin(unit)),
                                                      static_cast<size_t>(hasher.unit_end(unit) - hasher.unit_begin(unit))));
  return sum == 0 ? 1 : sum;
}

TEST(UnitHasher, PartsInOrderGiveEveryUnitsSum) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 300; ++run) {
    auto stream = random_bytes(1 + random() % 3000, random());
    UnitHasher hasher(static_cast<int64_t>(stream.size()), static_cast<int64_t>(1 + random() % 700));
    for (size_t begin = 0; begin < stream.size();) {
      size_t bytes = std::min(stream.size() - begin, 1 + random() % 900);
      hasher.observe(static_cast<int64_t>(begin), std::span(stream).subspan(begin, bytes));
      begin += bytes;
    }
    ASSERT_TRUE(hasher.torn_units().empty()) << "run " << run;
    for (int64_t unit = 0; unit < hasher.unit_count(); ++unit) {
      ASSERT_EQ(hasher.sums()[static_cast<size_t>(unit)], expected_sum(stream, hasher, unit)) << "run " << run;
    }
  }
}

TEST(UnitHasher, PartsOutOfOrderLeaveTornUnitsButNeverWrongSums) {
  std::mt19937_64 random(2);
  int64_t torn_count = 0;
  for (int run = 0; run < 300; ++run) {
    auto stream = random_bytes(1 + random() % 3000, random());
    UnitHasher hasher(static_cast<int64_t>(stream.size()), static_cast<int64_t>(1 + random() % 700));
    std::vector<std::pair<size_t, size_t>> parts;
    for (size_t begin = 0; begin < stream.size();) {
      size_t bytes = std::min(stream.size() - begin, 1 + random() % 900);
      parts.emplace_back(begin, bytes);
      begin += bytes;
    }
    std::shuffle(parts.begin(), parts.end(), random);
    for (auto [begin, bytes] : parts) {
      hasher.observe(static_cast<int64_t>(begin), std::span(stream).subspan(begin, bytes));
    }
    std::vector<int64_t> torn = hasher.torn_units();
    torn_count += static_cast<int64_t>(torn.size());
    for (int64_t unit = 0; unit < hasher.unit_count(); ++unit) {
      bool is_torn = std::find(torn.begin(), torn.end(), unit) != torn.end();
      ASSERT_EQ(hasher.sums()[static_cast<size_t>(unit)], is_torn ? 0 : expected_sum(stream, hasher, unit)) << "run " << run;
    }
  }
  EXPECT_GT(torn_count, 0);
}

TEST(UnitHasher, AStreamWithoutBytesHasNoUnits) {
  UnitHasher hasher(0, 1);
  hasher.observe(0, {});
  EXPECT_EQ(hasher.unit_count(), 0);
  EXPECT_TRUE(hasher.torn_units().empty());
}

}  // namespace
}  // namespace stria::file
