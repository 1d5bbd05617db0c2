// Meetings of simulated ranks under random schedules, and of one rank.
#include "comm/node_meeting.hpp"

#include <gtest/gtest.h>

#include <array>

#include "comm/self/self_comm.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria {
namespace {

void meet_often(Comm& comm) {
  auto meeting = NodeMeeting::create(comm).value();
  for (int64_t round = 0; round < 50; ++round) {
    const std::array<int64_t, 3> mine{round, 100 * comm.rank(), -round};
    const auto all = meeting->exchange(comm, std::span(mine).first(round % 2 == 0 ? 3 : 2));
    const size_t width = round % 2 == 0 ? 3 : 2;
    ASSERT_EQ(all.size(), width * static_cast<size_t>(comm.size()));
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_EQ(all[static_cast<size_t>(rank) * width], round);
      EXPECT_EQ(all[static_cast<size_t>(rank) * width + 1], 100 * rank);
    }
  }
}

TEST(NodeMeeting, EverybodyHearsEverybody) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 7);
    const auto report = run_simulated({.ranks = ranks, .ranks_per_node = ranks, .seed = seed}, meet_often);
    ASSERT_TRUE(report.ok()) << report.status().message();
  }
}

TEST(NodeMeeting, OfOneRank) {
  const auto comm = make_self_comm();
  meet_often(*comm);
}

}  // namespace
}  // namespace stria
