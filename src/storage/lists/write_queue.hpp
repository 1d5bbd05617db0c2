// A thread that writes lists in the background, one after another, while the file's owner packs
// the next buffer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "storage/driver.hpp"

namespace stria::storage {

/// Runs jobs in order on one thread, which starts with the first job. Thread-safe.
class WriteQueue {
 public:
  WriteQueue() = default;
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;
  /// Finishes every job first.
  ~WriteQueue();

  /// Appends a job. The result's wait() returns the job's outcome; its destructor waits too,
  /// without a report. When the system has no thread or no memory for that, the job runs at once on
  /// the calling thread. A job that runs out of memory has that as its outcome.
  std::unique_ptr<PendingWrite> start(std::function<Status()> job);

 private:
  struct Job;
  class Pending;
  bool enqueue(const std::shared_ptr<Job>& job) noexcept;
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stria::storage
