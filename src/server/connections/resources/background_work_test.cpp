// Work in the background of a connection: however it or the client fails, the server goes on.
#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "server/connections/resources/background.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;

asio::awaitable<void> nothing_to_tell() {
  co_return;
}

class BackgroundWork : public ::testing::Test {
 protected:
  /// Returns what in_background() returns or throws.
  template <typename Tell>
  int run(std::function<int()> work, Tell tell, Ending ending = Ending::kAnyTime) {
    auto coroutine = [&]() -> asio::awaitable<int> {
      const int outcome = co_await in_background<int>(workers_, work, milliseconds(1), tell, ending);
      co_return outcome;
    };
    std::future<int> outcome = asio::co_spawn(io_, coroutine, asio::use_future);
    io_.restart();
    io_.run();
    return outcome.get();
  }

  /// Waits until tell() was called, for ten seconds at most.
  void wait_for_tell() const {
    for (int i = 0; i < 10000 && told_ == 0; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  std::atomic<bool> over_ = false;
  std::atomic<int> told_ = 0;
  asio::io_context io_;
  Workers workers_{1};
};

TEST_F(BackgroundWork, ReturnsWhatItDoes) {
  const auto slow = [&] {
    wait_for_tell();
    return 7;
  };
  const auto tell = [&]() -> asio::awaitable<void> {
    ++told_;
    co_return;
  };
  EXPECT_EQ(run(slow, tell), 7);
  EXPECT_GT(told_, 0);
}

TEST_F(BackgroundWork, ThatThrowsEndsOnlyItself) {
  EXPECT_THROW(run([]() -> int { throw std::bad_alloc(); }, nothing_to_tell), std::bad_alloc);
  workers_.post([] { throw std::bad_alloc(); });
  EXPECT_EQ(run([] { return 8; }, nothing_to_tell), 8);
  workers_.join();
  EXPECT_EQ(workers_.jobs(), 0);
}

TEST_F(BackgroundWork, IsOverBeforeTheConnectionEndsWhereThatMatters) {
  const auto slow = [&] {
    wait_for_tell();
    std::this_thread::sleep_for(milliseconds(20));
    over_ = true;
    return 9;
  };
  const auto client_has_gone = [&]() -> asio::awaitable<void> {
    ++told_;
    throw std::runtime_error("the client has gone");
    co_return;
  };
  EXPECT_THROW(run(slow, client_has_gone, Ending::kAfterwards), std::runtime_error);
  EXPECT_TRUE(over_);
  EXPECT_EQ(told_, 1);
  std::promise<void> go_on;
  const auto longer = [&] {
    go_on.get_future().wait();
    return 10;
  };
  EXPECT_THROW(run(longer, client_has_gone), std::runtime_error);
  go_on.set_value();
  workers_.join();
}

class OneAtATimeTest : public ::testing::Test {
 protected:
  /// Work that goes on until it is told to end.
  void begin_long_work() {
    worker_.post([this] {
      begun_.set_value();
      end_.get_future().wait();
    });
    begun_.get_future().wait();
  }

  std::promise<void> begun_;
  std::promise<void> end_;
  OneAtATime worker_;
};

TEST_F(OneAtATimeTest, WorkIsDoneAtOnceOnlyWhereNothingIsBeingDone) {
  const auto caller = std::this_thread::get_id();
  std::thread::id done_by;
  EXPECT_TRUE(worker_.try_now([&] { done_by = std::this_thread::get_id(); }));
  EXPECT_EQ(done_by, caller);
  begin_long_work();
  EXPECT_FALSE(worker_.try_now([] { FAIL() << "beside other work"; }));
  std::vector<int> order;
  worker_.post([&] { order.push_back(1); });
  worker_.post([&] { order.push_back(2); });
  EXPECT_FALSE(worker_.try_now([] { FAIL() << "before work that waits"; }));
  EXPECT_EQ(worker_.jobs(), 3);
  end_.set_value();
  worker_.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(worker_.jobs(), 0);
}

TEST_F(OneAtATimeTest, WorkThatThrowsLeavesTheWayFree) {
  EXPECT_THROW(worker_.try_now([] { throw std::bad_alloc(); }), std::bad_alloc);
  worker_.post([] { throw std::bad_alloc(); });
  std::promise<void> done;
  worker_.post([&] { done.set_value(); });
  done.get_future().wait();
  for (int i = 0; i < 10000 && worker_.jobs() > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(worker_.try_now([] {}));
  worker_.join();
}

TEST_F(OneAtATimeTest, NoTwoPiecesOfWorkAreDoneTogether) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 2000;
  int count = 0;  // not atomic: a sanitizer, or the sum, tells of two at once
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        if (!worker_.try_now([&] { ++count; })) {
          worker_.post([&] { ++count; });
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  worker_.join();
  EXPECT_EQ(count, kThreads * kTurns);
}

}  // namespace
}  // namespace stria::server
