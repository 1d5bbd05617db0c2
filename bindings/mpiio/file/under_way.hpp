// Describes what is under way in the background for a file.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "mpiio/mpi/outcome.hpp"

namespace stria::mpiio {

struct Job;

class UnderWay {
 public:
  /// An operation begins, and has ended. Any thread.
  void begin() { ++count_; }
  void end() {  ///< \pre it has begun
    const int left = --count_;
    STRIA_CHECK(left >= 0, left);
  }
  bool any() const { return count_.load() > 0; }

  // Writes that are staged: for the program they have ended.

  void begin_staged() { ++staged_; }
  void end_staged() {  ///< \pre it has begun
    const int left = --staged_;
    STRIA_CHECK(left >= 0, left);
  }
  bool any_staged() const { return staged_.load() > 0; }
  /// Tells whether one is under way, or has failed.
  bool concerns_program() const { return any_staged() || failed_.load(); }
  /// Keeps the first failure, until the program hears of it. Any thread.
  void keep_failure(const Outcome& outcome) noexcept {
    if (outcome.ok()) {
      return;
    }
    const std::lock_guard lock(mutex_);
    if (!failed_.exchange(true)) {
      failure_ = outcome_in_words(outcome.error_class(),
                                  [&] { return "an earlier write that was staged has failed: " + outcome.message(); });
    }
  }
  Outcome failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  /// Does the same, for the last time.
  Outcome take_failure() {
    const std::lock_guard lock(mutex_);
    failed_ = false;
    return std::exchange(failure_, {});
  }

  /// Returns the split collective that the program has begun; null without one. A file has one at a
  /// time.
  const std::shared_ptr<Job>& split() const { return split_; }
  /// \pre there is none
  void set_split(std::shared_ptr<Job> job) {
    STRIA_ASSERT(split_ == nullptr && job != nullptr);
    split_ = std::move(job);
  }
  std::shared_ptr<Job> take_split() { return std::exchange(split_, nullptr); }

 private:
  std::atomic<int> count_{0};
  std::atomic<int> staged_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Outcome failure_;
  std::shared_ptr<Job> split_;
};

}  // namespace stria::mpiio
