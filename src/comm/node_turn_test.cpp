// One holder at a time and no rank forgotten, whether the end of a turn is announced in time, early
// or not at all.
#include "comm/node_turn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "comm/self/self_comm.hpp"

namespace stria {
namespace {

using std::chrono::microseconds;

enum class Announcement { kNone, kInTime, kEarly };

/// Each thread takes `turns` turns. Returns how many were taken in all; only the turn
/// protects this count.
int64_t take_turns(NodeTurn& turn, int thread_count, int turns, Announcement announcement) {
  int64_t taken = 0;
  std::atomic<int> holders{0};
  std::atomic<bool> shared{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < turns; ++n) {
        NodeTurn::Guard guard(&turn);
        shared = shared || holders.fetch_add(1) != 0;
        ++taken;
        if (announcement != Announcement::kNone && n % 3 != 0) {
          turn.announce();
        }
        if (announcement == Announcement::kEarly && n % 16 == 0) {
          std::this_thread::sleep_for(microseconds(300));  // longer than any thread spins
        }
        holders.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(shared);
  return taken;
}

TEST(NodeTurn, HasOneHolderAtATimeAndForgetsNobody) {
  auto comm = make_self_comm();
  auto turn = NodeTurn::create(*comm);
  ASSERT_TRUE(turn.ok()) << turn.status().message();
  for (int threads : {1, 2, 5, 40}) {  // 40 is more than there are wake-up bits
    for (auto announcement : {Announcement::kNone, Announcement::kInTime, Announcement::kEarly}) {
      const int turns = 2000 / threads;
      EXPECT_EQ(take_turns(**turn, threads, turns, announcement), int64_t{threads} * turns) << threads << " threads";
    }
  }
}

TEST(NodeTurn, AnAnnouncementLetsNobodyInEarly) {
  auto comm = make_self_comm();
  auto turn = NodeTurn::create(*comm);
  ASSERT_TRUE(turn.ok()) << turn.status().message();
  std::atomic<bool> entered{false};
  std::thread next;
  {
    NodeTurn::Guard guard(turn->get());
    next = std::thread([&] {
      NodeTurn::Guard mine(turn->get());
      entered = true;
    });
    std::this_thread::sleep_for(microseconds(2000));
    (*turn)->announce();
    std::this_thread::sleep_for(microseconds(2000));
    EXPECT_FALSE(entered);
  }
  next.join();
  EXPECT_TRUE(entered);
}

}  // namespace
}  // namespace stria
