// Work in the background of a connection: however it or the client fails, the server goes on, and
// the connection doesn't end before its work.
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

#include "server/connections/background.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;

asio::awaitable<void> nothing_to_tell() {
  co_return;
}

/// What in_background() returns or throws.
template <typename Tell>
int run(Workers& workers, std::function<int()> work, Tell tell) {
  asio::io_context io;
  auto coroutine = [&]() -> asio::awaitable<int> {
    const int outcome = co_await in_background<int>(workers, work, milliseconds(1), tell);
    co_return outcome;
  };
  std::future<int> outcome = asio::co_spawn(io, coroutine, asio::use_future);
  io.run();
  return outcome.get();
}

TEST(BackgroundWork, ReturnsWhatTheWorkDoes) {
  Workers workers(1);
  std::atomic<int> told = 0;
  const auto slow = [] {
    std::this_thread::sleep_for(milliseconds(50));
    return 7;
  };
  const auto tell = [&]() -> asio::awaitable<void> {
    ++told;
    co_return;
  };
  EXPECT_EQ(run(workers, slow, tell), 7);
  EXPECT_GT(told, 0);
}

TEST(BackgroundWork, ThatThrowsEndsOnlyItself) {
  Workers workers(1);
  EXPECT_THROW(run(
                   workers, []() -> int { throw std::bad_alloc(); }, nothing_to_tell),
               std::bad_alloc);
  workers.post([] { throw std::bad_alloc(); });
  EXPECT_EQ(run(
                workers, [] { return 8; }, nothing_to_tell),
            8);
  workers.join();
  EXPECT_EQ(workers.jobs(), 0);
}

TEST(BackgroundWork, IsOverBeforeTheConnectionEnds) {
  Workers workers(1);
  std::atomic<bool> over = false;
  std::atomic<int> told = 0;
  const auto slow = [&] {
    std::this_thread::sleep_for(milliseconds(100));
    over = true;
    return 9;
  };
  const auto client_has_gone = [&]() -> asio::awaitable<void> {
    ++told;
    throw std::runtime_error("the client has gone");
    co_return;
  };
  EXPECT_THROW(run(workers, slow, client_has_gone), std::runtime_error);
  EXPECT_TRUE(over);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace stria::server
