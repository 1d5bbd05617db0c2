// Meetings of simulated ranks, of which some leave at any time and in any order. No rank waits for
// ever, and every rank hears of it.
#include "file/meet/roll_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "access/random_case_test.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria::file {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr int kMeetings = 6;

void run(int ranks, uint64_t seed, const std::function<void(Comm&)>& body) {
  SimulationOptions options;
  options.ranks = ranks;
  options.ranks_per_node = 2;
  options.seed = seed;
  const auto report = run_simulated(options, body);
  ASSERT_TRUE(report.ok()) << report.status().message();
}

void take_part(Comm& comm, const std::vector<int>& leaves_before, uint64_t seed) {
  const int first_left = *std::min_element(leaves_before.begin(), leaves_before.end());
  const int64_t size = comm.size();
  access::MemoryReserve memory;
  RollCall roll_call(comm, comm.innermost().count_file());
  std::mt19937_64 random(seed + static_cast<uint64_t>(comm.rank()));
  for (int meeting = 0; meeting < kMeetings; ++meeting) {
    for (uint64_t i = random() % 20; i > 0; --i) {
      comm.pause(0);
    }
    if (leaves_before[static_cast<size_t>(comm.rank())] == meeting) {
      roll_call.leave("had enough", memory);
      return;
    }
    std::vector<int64_t> sums = {comm.rank(), 1, int64_t{1} << comm.rank() % 60};
    std::vector<int64_t> least = {10 - comm.rank(), comm.rank() - 5};
    const Status status = roll_call.meet(Call::kFlush, sums, memory, least);
    if (meeting < first_left) {
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(sums[0], size * (size - 1) / 2);
      ASSERT_EQ(sums[1], size);
      ASSERT_EQ(least, (std::vector<int64_t>{10 - (size - 1), -5}));
      continue;
    }
    ASSERT_EQ(meeting, first_left);
    ASSERT_EQ(status.code(), ErrorCode::kAborted);
    int left = -1;
    ASSERT_EQ(std::sscanf(status.message().c_str(), "rank %d had enough", &left), 1) << status.message();
    ASSERT_EQ(leaves_before[static_cast<size_t>(left)], first_left);
    ASSERT_EQ(roll_call.meet(Call::kFlush, {}, memory).message(), status.message()) << "without asking anybody again";
    return;
  }
}

TEST(RollCall, WhoeverLeavesTheOthersHearOfItAndTheNextFileIsWell) {
  for (uint64_t seed = access::test::first_seed(), end = seed + static_cast<uint64_t>(access::test::case_count(80)); seed < end;
       ++seed) {
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int ranks = static_cast<int>(1 + random() % 20);
    std::vector<std::vector<int>> files(3, std::vector<int>(static_cast<size_t>(ranks), kNever));
    for (auto& leaves_before : files) {
      for (int i = static_cast<int>(random() % 4); i > 0; --i) {
        leaves_before[random() % leaves_before.size()] = static_cast<int>(random() % kMeetings);
      }
    }
    run(ranks, seed, [&](Comm& comm) {
      for (const auto& leaves_before : files) {
        take_part(comm, leaves_before, seed);
      }
      comm.barrier();
    });
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(RollCall, RanksThatCallDifferentThingsHearOfBoth) {
  for (int ranks : {2, 3, 4, 7, 12}) {
    for (int odd = 0; odd < ranks; ++odd) {
      run(ranks, static_cast<uint64_t>(odd), [&](Comm& comm) {
        access::MemoryReserve memory;
        RollCall roll_call(comm, 0);
        const Status status = roll_call.meet(comm.rank() == odd ? Call::kFlush : Call::kCommit, {}, memory);
        const std::string expected = odd == 0 ? "rank 0 called flush() and rank 1 called commit()"
                                              : "rank 0 called commit() and rank " + std::to_string(odd) + " called flush()";
        EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(status.message().find(expected), std::string::npos) << status.message();
        EXPECT_TRUE(roll_call.meet(Call::kCommit, {}, memory).ok());
      });
    }
  }
}

// Each rank within the power of two sends one message per step, as in an all-reduce. Every other
// rank and its partner send two more.
TEST(RollCall, TakesTheMessagesOfAnAllReduce) {
  for (const auto& [ranks, messages] : {std::pair(1, 0), {2, 2}, {3, 4}, {4, 8}, {7, 14}, {8, 24}, {64, 384}}) {
    SimulationOptions options;
    options.ranks = ranks;
    const auto report = run_simulated(options, [&](Comm& comm) {
      access::MemoryReserve memory;
      RollCall roll_call(comm, 0);
      ASSERT_TRUE(roll_call.meet(Call::kCommit, {}, memory).ok());
    });
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->total().messages_sent, messages) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace stria::file
