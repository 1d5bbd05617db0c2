#include "storage/lists/write_queue.hpp"

#include <exception>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "base/signals_blocked.hpp"

namespace stria::storage {

struct WriteQueue::Job {
  std::function<Status()> work;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  Status outcome;

  void run() {
    STRIA_ASSERT(!done);
    Status result = or_out_of_memory(work);
    const std::lock_guard lock(mutex);
    outcome = std::move(result);
    done = true;
    finished.notify_all();
  }
};

class WriteQueue::Pending : public PendingWrite {
 public:
  explicit Pending(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() override { wait_until_done(); }

  bool done() override {
    const std::lock_guard lock(job_->mutex);
    return job_->done;
  }
  Status wait() override {
    wait_until_done();
    return job_->outcome;
  }

 private:
  void wait_until_done() {
    std::unique_lock lock(job_->mutex);
    job_->finished.wait(lock, [&] { return job_->done; });
  }

  std::shared_ptr<Job> job_;
};

WriteQueue::~WriteQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::unique_ptr<PendingWrite> WriteQueue::start(std::function<Status()> work) {
  STRIA_CHECK(static_cast<bool>(work));
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  auto pending = std::make_unique<Pending>(job);
  if (!enqueue(job)) {
    job->run();
  }
  return pending;
}

/// False where the system has no thread or no memory for it.
bool WriteQueue::enqueue(const std::shared_ptr<Job>& job) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
      const SignalsBlocked blocked;
      thread_ = std::thread([this] { run(); });
    }
    jobs_.push_back(job);
    wake_.notify_one();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void WriteQueue::run() {
  while (true) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) {
        return;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job->run();
  }
}

}  // namespace stria::storage
