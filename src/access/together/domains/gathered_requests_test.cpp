#include "access/together/domains/gathered_requests.hpp"

#include <gtest/gtest.h>

#include "access/together/domains/description.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria::access {
namespace {

// Pieces of 8 bytes, the further apart the later they come, so that only a list describes them.
Datatype irregular(int64_t pieces) {
  std::vector<int64_t> displacements;
  for (int64_t i = 0; i < pieces; ++i) {
    displacements.push_back(16 * i * i + 100);
  }
  return Datatype::indexed(std::vector<int64_t>(displacements.size(), 1), displacements, Datatype::bytes(8)).value();
}

Lane lane_of(int rank, const Datatype& type) {
  Lane lane;
  lane.streams.push_back({.file_type = type, .displacement = 1'000'000 * int64_t{rank}});
  return lane;
}

void gather(int ranks, const std::function<Lane(int)>& lane_of_rank, const std::function<void(GatheredRequests&)>& look) {
  const SimulationOptions options{.ranks = ranks, .ranks_per_node = 2};
  const auto report = run_simulated(options, [&](Comm& comm) {
    storage::Capabilities capabilities;
    capabilities.stripe_bytes = comm.rank() == 0 ? 4096 : 77;  // what rank 0 found counts
    GatheredRequests all(comm, lane_of_rank(comm.rank()), capabilities, comm.rank(), true);
    look(all);
  });
  ASSERT_TRUE(report.ok()) << report.status().message();
}

TEST(GatheredRequests, EveryRankHasAllShortDescriptions) {
  for (const int ranks : {2, 3, 7, GatheredRequests::kMostRanks}) {
    const auto lane = [](int rank) { return rank == 1 ? Lane() : lane_of(rank, Datatype::bytes(10 + rank)); };
    gather(ranks, lane, [&](GatheredRequests& all) {
      ASSERT_TRUE(all.are_described());
      EXPECT_EQ(all.size(), ranks);
      EXPECT_EQ(all.all().capabilities.stripe_bytes, 4096);
      EXPECT_EQ(all.all().hull, (ByteRange{0, ranks == 2 ? 10 : 1'000'000 * int64_t{ranks - 1} + 10 + ranks - 1}));
      EXPECT_EQ(all.all().bytes, ranks * 10 + ranks * (ranks - 1) / 2 - 11);
      EXPECT_EQ(all.all().pieces, ranks - 1);
      EXPECT_EQ(all.all().stage, ranks - 1);
      for (int rank = 0; rank < ranks; ++rank) {
        const auto lanes = decode_description(all.description(rank), 1);
        ASSERT_TRUE(lanes.ok()) << lanes.status().message();
        ASSERT_EQ(lanes->size(), rank == 1 ? 0U : 1U);
        if (rank != 1) {
          EXPECT_EQ(lanes->front().streams.front().displacement, 1'000'000 * int64_t{rank});
          EXPECT_EQ(lanes->front().streams.front().size(), 10 + rank);
        }
      }
    });
  }
}

TEST(GatheredRequests, OneLongDescriptionLeavesOnlyTheSums) {
  const auto lane = [](int rank) { return lane_of(rank, rank == 2 ? irregular(200) : Datatype::bytes(8)); };
  gather(4, lane, [](GatheredRequests& all) {
    EXPECT_FALSE(all.are_described());
    EXPECT_EQ(all.all().bytes, 3 * 8 + 200 * 8);
    EXPECT_EQ(all.all().pieces, 3 + 200);
  });
}

TEST(GatheredRequests, NothingAtAllHasNoExtent) {
  gather(
      3, [](int) { return Lane(); },
      [](GatheredRequests& all) {
        EXPECT_TRUE(all.are_described());
        EXPECT_TRUE(all.all().hull.empty());
        EXPECT_EQ(all.all().bytes, 0);
      });
}

}  // namespace
}  // namespace stria::access
