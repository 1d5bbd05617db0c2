// The threads of the connections, each with an event loop of its own.
//
// Problem: threads that share one loop hand events to each other, so that a small request costs
// more in waking threads than in work.
// Method: a connection stays with one loop, and so with one thread, which needs no lock for it.
// Loops are chosen at random, because clients connect in patterns. There are more loops than
// processors, so that a loop that waits for a disk delays few connections.
// Cost: three descriptors per loop.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace stria::server {

class IoThreads {
 public:
  static constexpr size_t kDescriptors = 3;  ///< what a loop takes

  IoThreads();
  size_t count() const { return loops_.size(); }

  /// Returns the loop for a new connection. By one thread at a time.
  asio::io_context& any() { return loops_[random_() % loops_.size()]->io; }
  asio::io_context& first() { return loops_.front()->io; }
  void start();
  bool started() const { return loops_.front()->thread.joinable(); }
  /// Returns when no loop has anything left to wait for.
  void join();

 private:
  struct Loop {
    asio::io_context io{1};  // for one thread
    asio::executor_work_guard<asio::io_context::executor_type> stays{io.get_executor()};
    std::thread thread;
  };
  static void run(asio::io_context& io);

  std::vector<std::unique_ptr<Loop>> loops_;
  std::minstd_rand random_;
};

}  // namespace stria::server
