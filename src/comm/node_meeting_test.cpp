// Meetings of simulated ranks under random schedules, and of one rank.
#include "comm/node_meeting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

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

// Says who passes in which operation; all exchange between such operations.
struct Operation {
  std::vector<bool> passes;
  bool exchange_before = false;
};

std::vector<Operation> make_operations(int ranks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Operation> operations(40);
  for (Operation& operation : operations) {
    const bool any = random() % 2 == 0;
    for (int rank = 0; rank < ranks; ++rank) {
      operation.passes.push_back(any && random() % 3 != 0);
    }
    operation.exchange_before = random() % 5 == 0;
  }
  return operations;
}

void come_or_pass(Comm& comm, const std::vector<Operation>& operations) {
  auto meeting = NodeMeeting::create(comm).value();
  for (size_t i = 0; i < operations.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    if (operations[i].exchange_before) {
      const auto all = meeting->exchange(comm, std::array{-number});
      for (const int64_t value : all) {
        ASSERT_EQ(value, -number);
      }
    }
    const std::vector<bool>& passes = operations[i].passes;
    if (passes[static_cast<size_t>(comm.rank())]) {
      meeting->pass(comm);
      continue;
    }
    const auto all = meeting->come(comm, std::array{number, int64_t{comm.rank()}});
    const bool somebody_passes = std::find(passes.begin(), passes.end(), true) != passes.end();
    ASSERT_EQ(all.has_value(), !somebody_passes) << "operation " << i << ", rank " << comm.rank();
    for (int64_t rank = 0; all && rank < comm.size(); ++rank) {
      const auto its = all->subspan(static_cast<size_t>(rank) * NodeMeeting::kMostValues);
      EXPECT_EQ(its[0], number);
      EXPECT_EQ(its[1], rank);
    }
  }
}

TEST(NodeMeeting, WhoPassesWaitsForNobodyAndAllWhoComeKnow) {
  for (uint64_t seed = 1; seed <= 21; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 7);
    const auto operations = make_operations(ranks, seed);
    const auto report = run_simulated({.ranks = ranks, .ranks_per_node = ranks, .seed = seed},
                                      [&](Comm& comm) { come_or_pass(comm, operations); });
    ASSERT_TRUE(report.ok()) << "seed " << seed << ": " << report.status().message();
  }
}

TEST(NodeMeeting, OfOneRank) {
  const auto comm = make_self_comm();
  meet_often(*comm);
  come_or_pass(*comm, make_operations(1, 7));
}

}  // namespace
}  // namespace stria
