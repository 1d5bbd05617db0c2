#include "access/together/domains/file_domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "access/random_case_test.hpp"
#include "base/buffer.hpp"

namespace stria::access {
namespace {

struct Layout {
  std::vector<Lane> lanes;
  int aggregators = 1;
  int64_t buffer_bytes = 1;
  int64_t unit_bytes = 1;
  int stripe_count = 1;
};

Layout random_layout(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  Layout layout;
  layout.aggregators = static_cast<int>(pick(1, 9));
  const int64_t buffer_log = pick(0, 20);
  layout.buffer_bytes = int64_t{1} << buffer_log;
  const int64_t units[] = {1, 7, 512, 4096, 12288, 5000, 65536, 1 << 20};
  layout.unit_bytes = units[pick(0, 7)];
  layout.stripe_count = static_cast<int>(layout.unit_bytes > 100 && pick(0, 1) == 0 ? pick(2, 5) : 1);
  int64_t at = pick(0, 1) == 0 ? 0 : pick(0, 100000);
  int64_t bytes = 0;
  int group = 0;
  for (int64_t i = 0, count = pick(0, 40); i < count; ++i) {
    if (i == 0 || pick(0, 3) == 0) {
      group = static_cast<int>(pick(0, 1000));
      for (const Lane& lane : layout.lanes) {
        group += lane.group == group ? 1001 : 0;
      }
      bytes = pick(0, 9) == 0 ? 0 : int64_t{1} << pick(0, std::clamp<int64_t>(buffer_log + 4, 10, 21));
      bytes += bytes == 0 ? 0 : pick(0, bytes - 1);
    }
    layout.lanes.push_back({{at, at + bytes}, group, {}});
    at += bytes + (pick(0, 1) == 0 ? 0 : pick(0, 10000));
  }
  return layout;
}

// Checks the windows of one aggregator's round: they are in order, in the buffer, apart, and placed
// as direct I/O needs.
void check_round(const FileDomains& domains, const std::vector<Window>& windows) {
  int64_t used = 0;
  int last_lane = -1;
  for (const Window& window : windows) {
    ASSERT_FALSE(window.file.empty());
    ASSERT_GE(window.lane, last_lane);
    last_lane = window.lane;
    ASSERT_GE(window.buffer_offset, used);
    ASSERT_EQ(window.buffer_offset % Buffer::kAlignmentBytes, window.file.begin % Buffer::kAlignmentBytes);
    used = window.buffer_offset + window.file.size();
  }
  ASSERT_LE(used, domains.buffer_bytes());
}

TEST(FileDomains, WindowsTileTheLanes) {
  uint64_t first = test::first_seed();
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(test::case_count(300)); ++seed) {
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed));
    Layout layout = random_layout(seed);
    FileDomains domains(layout.lanes, layout.aggregators, layout.buffer_bytes, layout.unit_bytes, layout.stripe_count);
    ASSERT_LE(domains.buffer_bytes(), std::max(layout.buffer_bytes, layout.unit_bytes + 4 * Buffer::kAlignmentBytes));
    std::vector<std::vector<ByteRange>> seen(layout.lanes.size());
    std::vector<Window> windows;
    for (int aggregator = 0; aggregator < layout.aggregators; ++aggregator) {
      std::vector<ByteRange> domain(layout.lanes.size(), {INT64_MAX, -1});
      for (int round = 0; round < domains.round_count(); ++round) {
        domains.windows(aggregator, round, windows);
        ASSERT_NO_FATAL_FAILURE(check_round(domains, windows));
        for (const Window& window : windows) {
          auto lane = static_cast<size_t>(window.lane);
          seen[lane].push_back(window.file);
          domain[lane] = {std::min(domain[lane].begin, window.file.begin), std::max(domain[lane].end, window.file.end)};
        }
      }
      for (size_t lane = 0; lane < domain.size(); ++lane) {
        ByteRange extent = layout.lanes[lane].hull;
        ASSERT_EQ(domains.meets(aggregator, static_cast<int>(lane), extent), !domain[lane].empty());
        if (!domain[lane].empty()) {
          if (layout.stripe_count == 1) {
            ASSERT_TRUE(domain[lane].begin == extent.begin || domain[lane].begin % layout.unit_bytes == 0);
            ASSERT_TRUE(domain[lane].end == extent.end || domain[lane].end % layout.unit_bytes == 0);
          }
          ASSERT_TRUE(domains.meets(aggregator, static_cast<int>(lane), {domain[lane].begin, domain[lane].begin + 1}));
          ASSERT_TRUE(domains.meets(aggregator, static_cast<int>(lane), {domain[lane].end - 1, domain[lane].end}));
          ASSERT_FALSE(domains.meets(aggregator, static_cast<int>(lane), {domain[lane].end, domain[lane].end + 1}));
        }
      }
    }
    for (size_t lane = 0; lane < seen.size(); ++lane) {
      std::sort(seen[lane].begin(), seen[lane].end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
      int64_t at = layout.lanes[lane].hull.begin;
      for (ByteRange range : seen[lane]) {
        ASSERT_EQ(range.begin, at) << "lane " << lane;
        at = range.end;
      }
      ASSERT_EQ(at, std::max(layout.lanes[lane].hull.end, layout.lanes[lane].hull.begin)) << "lane " << lane;
    }
  }
}

// Aggregators that meet a range are among those around it.
TEST(FileDomains, AroundHoldsAllThatMeet) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Layout layout = random_layout(seed);
    const FileDomains domains(layout.lanes, layout.aggregators, layout.buffer_bytes, layout.unit_bytes, layout.stripe_count);
    std::minstd_rand random(static_cast<uint32_t>(seed));
    for (size_t lane = 0; lane < layout.lanes.size(); ++lane) {
      const ByteRange hull = layout.lanes[lane].hull;
      const int64_t begin = hull.begin + static_cast<int64_t>(random() % static_cast<uint64_t>(hull.size() + 1));
      const ByteRange range{begin, begin + static_cast<int64_t>(random() % static_cast<uint64_t>(hull.end - begin + 1))};
      for (const ByteRange one : {hull, range}) {
        const auto [first, last] = domains.around(static_cast<int>(lane), one);
        ASSERT_TRUE(0 <= first && first <= last && last <= layout.aggregators) << first << ' ' << last;
        for (int a = 0; a < layout.aggregators; ++a) {
          if (domains.meets(a, static_cast<int>(lane), one)) {
            ASSERT_TRUE(first <= a && a < last) << a << " of lane " << lane << " is not in " << first << " to " << last;
          }
        }
      }
    }
  }
}

TEST(FileDomains, LanesOfAGroupAdvanceTogether) {
  constexpr int64_t kLaneBytes = 10 << 20;
  std::vector<Lane> lanes;
  for (int64_t i = 0; i < 24; ++i) {
    lanes.push_back({{i * kLaneBytes, (i + 1) * kLaneBytes}, 0, {}});
  }
  FileDomains domains(lanes, 2, 16 << 20, 4096);
  std::vector<Window> windows;
  for (int round = 0; round < domains.round_count(); ++round) {
    domains.windows(1, round, windows);
    ASSERT_EQ(windows.size(), lanes.size());
    for (const Window& window : windows) {
      EXPECT_EQ(window.file.begin - lanes[static_cast<size_t>(window.lane)].hull.begin, windows[0].file.begin);
      EXPECT_EQ(window.file.size(), windows[0].file.size());
    }
  }
  EXPECT_EQ(domains.round_count(), 8);  // 24 lanes of 5 MiB through 16 MiB
}

TEST(FileDomains, SmallGroupsShareRoundsAndAreDealtOut) {
  std::vector<Lane> lanes;
  for (int i = 0; i < 100; ++i) {
    lanes.push_back({{i * 100, i * 100 + 100}, i, {}});
  }
  FileDomains one(lanes, 3, 1 << 20, 4096);
  EXPECT_EQ(one.round_count(), 1);
  // A lane of 100 bytes takes two alignments and itself.
  FileDomains several(lanes, 3, 100 << 10, 4096);
  EXPECT_GT(several.round_count(), 1);
  std::vector<Window> windows;
  for (int aggregator = 0; aggregator < 3; ++aggregator) {
    several.windows(aggregator, 0, windows);
    EXPECT_FALSE(windows.empty());
  }
}

}  // namespace
}  // namespace stria::access
