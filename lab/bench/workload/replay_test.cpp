#include "workload/replay.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace stria::bench {
namespace {

Workload play(const Recording& recording, const Ranks& ranks, int64_t mib = 1024) {
  const WorkloadKind kind = replay_kind(std::make_shared<const Recording>(recording));
  Chosen chosen = kind.standards();
  chosen.numbers["mib"] = mib;
  return kind.make(chosen, ranks);
}

/// (array, offset, bytes) by call.
using Parts = std::vector<std::vector<std::array<int64_t, 3>>>;
Parts parts_of(const Workload& workload) {
  Parts parts;
  for (const Call& call : workload.calls) {
    parts.emplace_back();
    for (const Part& part : call.parts) {
      parts.back().push_back({static_cast<int64_t>(part.array), part.file.start[0], part.file.elements()});
    }
  }
  return parts;
}

TEST(Replay, KeepsOrderPlacesAndRanks) {
  const Recording recording{{{{100, 10}, {0, 10}}, {{50, 10}}}, false};
  EXPECT_EQ(parts_of(play(recording, {0, 2})), (Parts{{{0, 100, 10}}, {{0, 0, 10}}}));
  EXPECT_EQ(parts_of(play(recording, {1, 2})), (Parts{{{0, 50, 10}}}));
  EXPECT_EQ(play(recording, {1, 2}).arrays[0].dims, std::vector<int64_t>{110});
}

TEST(Replay, MoreRanksRepeatTheRecordedOnesFurtherOn) {
  const Recording recording{{{{100, 10}, {0, 10}}, {{50, 10}}}, false};
  EXPECT_EQ(parts_of(play(recording, {1, 5})), (Parts{{{0, 50, 10}}}));
  EXPECT_EQ(parts_of(play(recording, {2, 5})), (Parts{{{0, 4 * kMiB + 100, 10}}, {{0, 4 * kMiB, 10}}}));
  EXPECT_EQ(parts_of(play(recording, {4, 5})), (Parts{{{0, 8 * kMiB + 100, 10}}, {{0, 8 * kMiB, 10}}}));
  EXPECT_EQ(play(recording, {3, 5}).arrays[0].dims, std::vector<int64_t>{8 * kMiB + 110});
  const Recording apart{{{{0, 10}}, {{5, 30}}}, true};
  EXPECT_EQ(parts_of(play(apart, {3, 4})), (Parts{{{0, 5, 30}}}));
  EXPECT_NE(play(apart, {3, 4}).arrays[0].name, play(apart, {1, 4}).arrays[0].name);
}

TEST(Replay, ARankPlaysSeveralRecordedOnes) {
  const Recording recording{{{{100, 10}, {0, 10}}, {{50, 10}}, {{20, 10}}}, false};
  EXPECT_EQ(parts_of(play(recording, {0, 2})), (Parts{{{0, 20, 10}, {0, 100, 10}}, {{0, 0, 10}}}));
}

TEST(Replay, FilesOfTheirOwnStayApart) {
  const Recording recording{{{{0, 10}}, {{0, 20}}, {{5, 30}}}, true};
  const Workload workload = play(recording, {0, 2});
  EXPECT_TRUE(workload.is_file_a_rank);
  EXPECT_EQ(parts_of(workload), (Parts{{{0, 0, 10}, {1, 5, 30}}}));
  EXPECT_EQ(workload.arrays[1].dims, std::vector<int64_t>{35});
  EXPECT_NE(workload.arrays[0].name, workload.arrays[1].name);
}

TEST(Replay, WideGapsShrinkAndAlignmentStays) {
  const int64_t far = (int64_t{1} << 40) + 4096;
  const Recording recording{{{{far, 10}, {far + 7 * kMiB, 10}, {2 * far, 10}}}, false};
  const Workload workload = play(recording, {0, 1});
  EXPECT_EQ(parts_of(workload), (Parts{{{0, 4 * kMiB + 4096, 10}}, {{0, 11 * kMiB + 4096, 10}}, {{0, 16 * kMiB + 8192, 10}}}));
  EXPECT_EQ(workload.arrays[0].bytes(), 16 * kMiB + 8192 + 10);
}

TEST(Replay, LaterRequestsAreLeftOut) {
  const Recording recording{{{{0, kMiB}, {4 * kMiB, kMiB}}, {{kMiB, kMiB}, {5 * kMiB, kMiB}}}, false};
  EXPECT_EQ(play(recording, {0, 2}, 3).useful_bytes(), 2 * kMiB);
  EXPECT_EQ(play(recording, {1, 2}, 3).useful_bytes(), kMiB);
  EXPECT_EQ(play(recording, {0, 1}, 4).useful_bytes(), 4 * kMiB);
  EXPECT_EQ(play({{{{0, 5 * kMiB}}}, false}, {0, 1}, 1).useful_bytes(), 5 * kMiB) << "never nothing";
}

// What a rank writes is the union of what was recorded, each byte once.
TEST(Replay, NoByteTwice) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::minstd_rand random(seed);
  for (int round = 0; round < 200; ++round) {
    Recording recording{{{}}, false};
    std::set<int64_t> wanted, found;
    for (int i = 0; i < 30; ++i) {
      const int64_t offset = random() % 300, bytes = 1 + random() % 40;
      recording.ranks[0].push_back({offset, bytes});
      for (int64_t at = offset; at < offset + bytes; ++at) {
        wanted.insert(at);
      }
    }
    for (const auto& call : parts_of(play(recording, {0, 1}))) {
      int64_t end = 0;
      for (const auto& [array, offset, bytes] : call) {
        EXPECT_GE(offset, end) << "sorted";
        end = offset + bytes;
        for (int64_t at = offset; at < end; ++at) {
          EXPECT_TRUE(found.insert(at).second);
        }
      }
    }
    EXPECT_EQ(found, wanted);
  }
}

}  // namespace
}  // namespace stria::bench
