// Locks among threads, which share the memory as the ranks of a node do.
#include "comm/node_locks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "comm/self/self_comm.hpp"

namespace stria {
namespace {

struct Locks {
  std::unique_ptr<Comm> comm = make_self_comm();
  std::unique_ptr<NodeLocks> locks = NodeLocks::create(*comm).value();
};

TEST(NodeLocks, PlainWritesPassEachOtherAndWaitForWindows) {
  Locks node;
  auto one = node.locks->enter_plain({0, 100});
  auto two = node.locks->enter_plain({50, 60});
  std::atomic<int> stage{0};
  std::thread siever([&] {
    auto window = node.locks->lock({0, 1000});
    stage = 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stage = 2;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(stage, 0) << "the window waits for plain writes under way";
  one = NodeLocks::Guard();
  two = NodeLocks::Guard();
  while (stage == 0) {
    std::this_thread::yield();
  }
  auto elsewhere = node.locks->enter_plain({1000, 2000});
  EXPECT_EQ(stage, 1) << "what doesn't overlap needn't wait";
  auto within = node.locks->enter_plain({999, 1001});
  EXPECT_EQ(stage, 2);
  siever.join();
}

// Windows add to every cell that they hold, in two steps. Each plain writer sets a cell of its own.
// Lost updates would show.
TEST(NodeLocks, NothingIsLostUnderLoad) {
  constexpr int kCells = 64;
  constexpr int kThreads = 4;
  constexpr int kSteps = 3000;
  Locks node;
  std::vector<int64_t> cells(kCells, 0);
  std::vector<std::vector<int64_t>> added(kThreads, std::vector<int64_t>(kCells, 0));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t + 1));
      for (int step = 0; step < kSteps; ++step) {
        int64_t begin = random() % kCells;
        int64_t end = begin + 1 + random() % static_cast<unsigned>(kCells - begin);
        if (step % 3 == 0) {
          auto guard = node.locks->enter_plain({t, t + 1});
          cells[static_cast<size_t>(t)] += 1;  // written by this thread and by windows only
          added[static_cast<size_t>(t)][static_cast<size_t>(t)] += 1;
          continue;
        }
        auto guard = node.locks->lock({begin, end});
        std::vector<int64_t> copy(cells.begin() + begin, cells.begin() + end);
        if (step % 64 == 0) {
          std::this_thread::yield();
        }
        for (int64_t i = begin; i < end; ++i) {
          cells[static_cast<size_t>(i)] = copy[static_cast<size_t>(i - begin)] + 1;
          added[static_cast<size_t>(t)][static_cast<size_t>(i)] += 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    int64_t sum = 0;
    for (const auto& mine : added) {
      sum += mine[i];
    }
    EXPECT_EQ(cells[i], sum) << "cell " << i;
  }
}

}  // namespace
}  // namespace stria
