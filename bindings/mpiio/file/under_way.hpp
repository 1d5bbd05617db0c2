// What is under way in the background for a file.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace stria::mpiio {

struct Job;

class UnderWay {
 public:
  /// An operation begins, and has ended. Any thread.
  void begin() { ++count_; }
  void end() { --count_; }
  bool any() const { return count_.load() > 0; }

  /// The split collective that the program has begun; null without one. A file has one at a time.
  const std::shared_ptr<Job>& split() const { return split_; }
  void set_split(std::shared_ptr<Job> job) { split_ = std::move(job); }
  std::shared_ptr<Job> take_split() { return std::exchange(split_, nullptr); }

 private:
  std::atomic<int> count_{0};
  std::shared_ptr<Job> split_;
};

}  // namespace stria::mpiio
