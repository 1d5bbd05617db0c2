// Work that waits for the disk. A thread does it while the coroutine lets others go on.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

namespace stria::server {

/// A bell on which a coroutine sleeps, and which any thread may ring once.
class Bell : public std::enable_shared_from_this<Bell> {
 public:
  explicit Bell(asio::any_io_executor executor) : timer_(std::move(executor)) {}

  /// Any thread may call this.
  void ring() {
    asio::post(timer_.get_executor(), [self = shared_from_this()] {
      self->rung_ = true;
      self->timer_.cancel();
    });
  }
  /// Waits until the bell is rung, for at most `time`; true when it was rung.
  asio::awaitable<bool> wait(std::chrono::milliseconds time) {
    if (!rung_) {
      asio::error_code ignored;
      timer_.expires_after(time);
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return rung_;
  }

 private:
  asio::steady_timer timer_;
  bool rung_ = false;  // by the loop of the coroutine
};

/// Threads for work that may wait.
class Workers {
 public:
  explicit Workers(size_t threads) : pool_(threads) {}

  /// An exception, above all from lack of memory, ends this work and not the server.
  template <typename Work>
  void post(Work work) {
    ++jobs_;
    asio::post(pool_, [this, work = std::move(work)]() mutable {
      try {
        work();
      } catch (const std::exception&) {
        // Nothing happens, as if it had not been asked for.
      }
      --jobs_;
    });
  }
  /// Returns the number of jobs that wait or are being done.
  int64_t jobs() const { return jobs_; }
  /// Waits until all are done.
  void join() { pool_.join(); }

 private:
  std::atomic<int64_t> jobs_ = 0;
  asio::thread_pool pool_;
};

/// A thread for work that is done one piece after another, in the order in which it is asked for.
//
// Handing work to a thread and its outcome back wakes two threads, which takes longer than most of
// the work. So where nothing else is to be done, who asks does it at once, in the thread's place.
class OneAtATime {
 public:
  /// An exception ends this work and not the server.
  template <typename Work>
  void post(Work work) {
    ++jobs_;
    thread_.post([this, work = std::move(work)]() mutable {
      const End end{jobs_};  // after the turn
      const std::lock_guard turn(turn_);
      work();
    });
  }
  /// Does it on the caller's thread, if nothing waits or is being done: true, with whatever it
  /// throws.
  template <typename Work>
  bool try_now(const Work& work) {
    int64_t none = 0;
    if (!jobs_.compare_exchange_strong(none, 1)) {
      return false;
    }
    const End end{jobs_};
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (turn.owns_lock()) {  // not, where work was asked for in this moment
      work();
    }
    return turn.owns_lock();
  }
  /// Returns the number of jobs that wait or are being done.
  int64_t jobs() const { return jobs_; }
  /// Waits until all are done.
  void join() { thread_.join(); }

 private:
  struct End {
    ~End() { --jobs; }
    std::atomic<int64_t>& jobs;
  };

  std::atomic<int64_t> jobs_ = 0;
  std::mutex turn_;
  Workers thread_{1};
};

/// Says whether a connection may end before its work. Its client may come back with the same
/// request, which must not overtake work that it would undo.
enum class Ending { kAnyTime, kAfterwards };

/// Returns what work() returns, done by one of `workers`. Every `patience` until then tell() is
/// awaited. Throws what either throws.
template <typename Outcome, typename Pool, typename Tell>
asio::awaitable<Outcome> in_background(Pool& workers, std::function<Outcome()> work, std::chrono::milliseconds patience,
                                       Tell tell, Ending ending = Ending::kAnyTime) {
  struct Job {
    Outcome outcome;
    std::exception_ptr failure;
    std::shared_ptr<Bell> bell;
  };
  auto job = std::make_shared<Job>();
  job->bell = std::make_shared<Bell>(co_await asio::this_coro::executor);
  workers.post([job, work = std::move(work)] {
    try {
      job->outcome = work();
    } catch (...) {
      job->failure = std::current_exception();
    }
    job->bell->ring();
  });
  std::exception_ptr gone;
  while (true) {
    const bool done = co_await job->bell->wait(patience);
    if (done) {
      break;
    }
    try {
      if (gone == nullptr) {
        co_await tell();
      }
    } catch (const std::exception&) {
      if (ending == Ending::kAnyTime) {
        throw;
      }
      gone = std::current_exception();
    }
  }
  for (const std::exception_ptr& failure : {job->failure, gone}) {
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }
  co_return std::move(job->outcome);
}

}  // namespace stria::server
