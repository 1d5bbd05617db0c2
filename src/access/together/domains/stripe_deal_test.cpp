#include "access/together/domains/stripe_deal.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace stria::access {
namespace {

/// Returns the aggregator of every block of the extent; checks that each has one.
std::map<int64_t, int> owners(const StripeDeal& deal, ByteRange extent, int aggregators) {
  std::map<int64_t, int> owner_of;
  for (int a = 0; a < aggregators; ++a) {
    int64_t last = -1;
    for (int64_t i = 0; i < deal.block_count(a); ++i) {
      ByteRange block = deal.block(a, i);
      EXPECT_GT(block.begin, last) << "blocks come in the order of the file";
      last = block.begin;
      EXPECT_FALSE(intersect(block, extent).empty());
      EXPECT_EQ(block.begin % deal.block_bytes(), 0);
      EXPECT_TRUE(owner_of.emplace(block.begin / deal.block_bytes(), a).second) << "block dealt twice";
    }
  }
  int64_t first = extent.begin / deal.block_bytes();
  int64_t count = extent.empty() ? 0 : (extent.end - 1) / deal.block_bytes() - first + 1;
  EXPECT_EQ(static_cast<int64_t>(owner_of.size()), count);
  return owner_of;
}

TEST(StripeDeal, EveryBlockHasOneAggregator) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    int aggregators = static_cast<int>(pick(1, 20));
    int stripe_count = static_cast<int>(pick(1, 9));
    int64_t stripe_bytes = random() % 2 == 0 ? pick(1, 5000) : pick(1, 4) * (256 << 10);
    int64_t begin = pick(0, 30 * stripe_bytes);
    ByteRange extent{begin, begin + pick(0, 60 * stripe_bytes)};
    StripeDeal deal(extent, aggregators, stripe_bytes, stripe_count);
    auto owner_of = owners(deal, extent, aggregators);
    for (int i = 0; i < 10 && !extent.empty(); ++i) {
      int64_t from = pick(extent.begin, extent.end - 1);
      ByteRange range{from, pick(from + 1, extent.end)};
      std::set<int> naive;
      for (int64_t block = range.begin / deal.block_bytes(); block * deal.block_bytes() < range.end; ++block) {
        naive.insert(owner_of[block]);
      }
      for (int a = 0; a < aggregators; ++a) {
        ASSERT_EQ(deal.meets(a, range), naive.contains(a)) << "aggregator " << a;
      }
    }
  }
}

TEST(StripeDeal, AnAggregatorServesOneServerWhereThatIsPossible) {
  constexpr int64_t kStripe = 1 << 20;
  for (int aggregators : {4, 8, 12}) {
    StripeDeal deal({0, 100 * kStripe}, aggregators, kStripe, 4);
    for (int a = 0; a < aggregators; ++a) {
      EXPECT_EQ(deal.block_count(a), 100 / aggregators + (a < 100 % aggregators ? 1 : 0));
      for (int64_t i = 0; i < deal.block_count(a); ++i) {
        EXPECT_EQ(deal.block(a, i).begin / kStripe % 4, a % 4);
      }
    }
  }
}

TEST(StripeDeal, FewStripesAreCutForManyAggregators) {
  constexpr int64_t kStripe = 4 << 20;
  StripeDeal deal({0, 2 * kStripe}, 8, kStripe, 2);
  EXPECT_EQ(deal.block_bytes(), kStripe / 4);
  for (int a = 0; a < 8; ++a) {
    EXPECT_EQ(deal.block_count(a), 1);
    EXPECT_EQ(deal.block(a, 0).begin / kStripe, a % 2);
  }
}

}  // namespace
}  // namespace stria::access
