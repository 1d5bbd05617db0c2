#include "comm/simulated/simulated_comm.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "comm/conformance_test.hpp"
#include "support/rounds.hpp"
#include "support/sanitized.hpp"

namespace stria {
namespace {

std::span<std::byte> bytes_of(int& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Returns the schedules for so many ranks.
uint64_t most_seeds(int ranks) {
  return rounds(ranks < 20 ? 12u : 3u);
}

TEST(SimulatedComm, ConformsUnderManySchedules) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 64}) {
    for (uint64_t seed = 1; seed <= most_seeds(ranks); ++seed) {
      const SimulationOptions options{
          .ranks = ranks, .ranks_per_node = static_cast<int>(1 + seed % 5), .scatter_nodes = seed % 2 == 0, .seed = seed};
      const auto report = run_simulated(
          options, [&](Comm& comm) { testing::check_comm(comm, {.seed = seed, .large_bytes = 70000, .rounds = 2}); });
      ASSERT_TRUE(report.ok()) << "ranks " << ranks << ", seed " << seed << ": " << report.status().message();
      ASSERT_FALSE(HasFailure()) << "ranks " << ranks << ", seed " << seed;
    }
  }
}

/// Returns the order in which four ranks reach a point, as their digits.
std::string order_of(uint64_t seed) {
  std::string order;
  const auto report = run_simulated({.ranks = 4, .seed = seed}, [&](Comm& comm) {
    for (int i = 0; i < 5; ++i) {
      comm.barrier();
      order += std::to_string(comm.rank());
    }
  });
  EXPECT_TRUE(report.ok());
  return order;
}

TEST(SimulatedComm, SeedsDecideTheSchedule) {
  EXPECT_EQ(order_of(5), order_of(5));
  bool differs = false;
  for (uint64_t seed = 6; seed < 12; ++seed) {
    differs = differs || order_of(seed) != order_of(5);
  }
  EXPECT_TRUE(differs);
}

TEST(SimulatedComm, CountsTheTraffic) {
  const auto report = run_simulated({.ranks = 8}, [](Comm& comm) {
    std::vector<std::byte> data(100);
    comm.broadcast(data, 3);
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->total().messages_sent, 7);
  EXPECT_EQ(report->total().bytes_received, 700);
  EXPECT_EQ(report->traffic[3].messages_sent, 3);
  EXPECT_EQ(report->traffic[3].messages_received, 0);
}

TEST(SimulatedComm, ReportsADeadlockWithStates) {
  const auto report = run_simulated({.ranks = 3}, [](Comm& comm) {
    int value = 0;
    if (comm.rank() != 1) {
      const auto request = comm.receive(bytes_of(value), 1, 9);
      comm.wait(*request);
    }
  });
  ASSERT_FALSE(report.ok());
  const std::string& text = report.status().message();
  EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 0 receives 4 bytes from rank 1 with tag 9"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 2 receives 4 bytes from rank 1 with tag 9"), std::string::npos) << text;
  EXPECT_NE(text.find("1 ranks have ended"), std::string::npos) << text;
}

TEST(SimulatedComm, ReportsPollingForWhatNeverComes) {
  const auto report = run_simulated({.ranks = 2, .stall_ms = 50}, [](Comm& comm) {
    int value = 0;
    const auto request = comm.receive(bytes_of(value), 1 - comm.rank(), 0);
    for (int attempt = 0; !request->test(); ++attempt) {
      comm.pause(attempt);
    }
  });
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("rank 1 polls"), std::string::npos) << report.status().message();
}

TEST(SimulatedComm, FindsSendsThatRelyOnBuffering) {
  // Both send before they receive, which works only where the network buffers. Some schedule must
  // show the deadlock.
  int deadlocks = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto report = run_simulated({.ranks = 2, .seed = seed}, [](Comm& comm) {
      int mine = comm.rank();
      int theirs = 0;
      const auto sending = comm.send(bytes_of(mine), 1 - comm.rank(), 0);
      comm.wait(*sending);
      const auto receiving = comm.receive(bytes_of(theirs), 1 - comm.rank(), 0);
      comm.wait(*receiving);
    });
    deadlocks += report.ok() ? 0 : 1;
  }
  EXPECT_GT(deadlocks, 0);
  EXPECT_LT(deadlocks, 20);
}

TEST(SimulatedComm, ReportsMessagesOfTheWrongSize) {
  const auto report = run_simulated({.ranks = 2}, [](Comm& comm) {
    std::vector<std::byte> data(comm.rank() == 0 ? 4 : 5);
    const auto request = comm.rank() == 0 ? comm.send(data, 1, 0) : comm.receive(data, 0, 0);
    comm.wait(*request);
  });
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("4 bytes from rank 0 to rank 1 with tag 0 met a receive of 5"), std::string::npos)
      << report.status().message();
}

TEST(SimulatedComm, LetsExceptionsOutAndUnwindsTheOthers) {
  const auto token = std::make_shared<int>(1);
  const auto run = [&] {
    static_cast<void>(run_simulated({.ranks = 5}, [&](Comm& comm) {
      const std::shared_ptr<int> held = token;
      comm.barrier();
      if (comm.rank() == 3) {
        throw std::runtime_error("rank 3 has had enough");
      }
      comm.barrier();
    }));
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(token.use_count(), 1) << "the stacks of all ranks were unwound";
}

TEST(SimulatedComm, KeepsExceptionsOfRanksApart) {
  const auto report = run_simulated({.ranks = 6, .seed = 4}, [](Comm& comm) {
    try {
      throw comm.rank();
    } catch (int mine) {
      comm.barrier();
      try {
        throw std::runtime_error(std::to_string(mine));
      } catch (const std::exception& error) {
        comm.barrier();
        EXPECT_EQ(error.what(), std::to_string(comm.rank()));
      }
      try {
        throw;
      } catch (int again) {
        EXPECT_EQ(again, comm.rank());
      }
    }
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
}

TEST(SimulatedComm, WaitsForThreadsOutside) {
  std::atomic<bool> flag = false;
  std::thread outside([&] {
    const timespec moment{0, 20000000};
    nanosleep(&moment, nullptr);
    flag = true;
  });
  const auto report = run_simulated({.ranks = 3}, [&](Comm& comm) {
    for (int attempt = 0; comm.rank() == 1 && !flag; ++attempt) {
      comm.pause(attempt);
    }
    comm.barrier();
  });
  outside.join();
  EXPECT_TRUE(report.ok()) << report.status().message();
}

TEST(SimulatedComm, RefusesOptionsOutOfRange) {
  const auto nothing = [](Comm&) {};
  for (const SimulationOptions& options : {SimulationOptions{.ranks = 0}, SimulationOptions{.ranks = 70000},
                                           SimulationOptions{.ranks_per_node = 0}, SimulationOptions{.stack_bytes = 100}}) {
    EXPECT_EQ(run_simulated(options, nothing).status().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(SimulatedComm, HoldsThousandsOfRanks) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kRanks = 256;  // the thread sanitizer keeps a history of every fiber
#else
  constexpr int kRanks = kSanitized ? 2048 : 16384;
#endif
  const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 64, .stack_bytes = 64 << 10}, [](Comm& comm) {
    std::vector<int64_t> values{comm.rank(), 1};
    comm.exclusive_scan(values);
    EXPECT_EQ(values[1], comm.rank());
    comm.all_reduce(std::span<int64_t>(values), ReduceOp::kMax);
    EXPECT_EQ(values[1], kRanks - 1);
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
}

}  // namespace
}  // namespace stria
