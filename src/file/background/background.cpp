#include "file/background/background.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/signals_blocked.hpp"
#include "file/background/background_timer.hpp"

namespace stria::file {

namespace {

constexpr int kNiceness = 5;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr int64_t kMostTurnsAsleep = 100;

}  // namespace

Background& Background::instance() {
  static Background* background = new Background;
  return *background;
}

Status Background::start() {
  if (process_ != 0 && process_ != getpid()) {
    return Status(ErrorCode::kUnsupported, "commit_async() in a forked process, whose parent has called it before");
  }
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) {
    return Status();
  }
  try {
    const SignalsBlocked blocked;
    stopping_ = false;
    thread_ = std::thread([this] { run(); });
    process_ = getpid();
  } catch (const std::system_error& error) {
    return Status::from_errno(error.code().value(), "start a thread for commit_async()");
  }
  return Status();
}

void Background::take(Queue& commit) noexcept {
  const std::lock_guard lock(mutex_);
  to_write_.splice(to_write_.end(), commit);
  work_.notify_one();
}

void Background::wait_for_name(const std::string& stored_path) {
  if (process_ != getpid()) {
    return;
  }
  const auto has_name = [&](const std::shared_ptr<BackgroundCommit>& commit) { return commit->stored_path() == stored_path; };
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] {
    return std::none_of(to_write_.begin(), to_write_.end(), has_name) && std::none_of(to_end_.begin(), to_end_.end(), has_name);
  });
}

Status Background::take_unheard_failure(Comm& comm) {
  if (process_ != getpid()) {
    return Status();
  }
  std::unique_lock lock(mutex_);
  // The program may know that it has ended, before the thread has put it into its list.
  ended_.wait(lock, [&] {
    return std::none_of(to_end_.begin(), to_end_.end(),
                        [](const auto& commit) { return commit->is_root() && commit->is_done(); });
  });
  // The list alone has it: the program's tickets are gone.
  const auto found = std::find_if(failed_.begin(), failed_.end(), [&](const std::shared_ptr<BackgroundCommit>& commit) {
    return commit.use_count() == 1 && commit->is_unheard_at(comm);
  });
  if (found == failed_.end()) {
    return Status();
  }
  const Status failure = (*found)->outcome();
  failed_.erase(found);
  return failure.with_context("an earlier commit_async(), for which nobody waits, has failed");
}

void Background::finish() {
  if (process_ != getpid()) {
    return;
  }
  std::optional<BackgroundTimer> timer;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_one();
    const Queue& left = to_end_.empty() ? to_write_ : to_end_;
    if (!left.empty()) {
      timer.emplace(left.front()->trace_id(), "background wait", trace::Counter::kBackgroundWaitNs);
    }
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  timer.reset();
  for (const auto& commit : failed_) {
    commit->tell_if_unheard();
  }
  failed_.clear();
}

void Background::run() {
  // A lower priority is for this thread alone. It may be refused.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  std::unique_lock lock(mutex_);
  while (!stopping_ || !to_write_.empty() || !to_end_.empty()) {
    if (work(lock)) {
      continue;
    }
    if (to_end_.empty() && to_write_.empty()) {
      work_.wait(lock);
    } else {
      work_.wait_for(lock, pause());
    }
  }
}

// Of n ranks that wait for their turn, the k-th looks each k milliseconds: together they wake up
// about log(n) times in a millisecond, not n times.
std::chrono::milliseconds Background::pause() const {
  int64_t turns = to_end_.empty() ? kMostTurnsAsleep : 1;
  for (const auto& commit : to_write_) {
    turns = std::min(turns, commit->turns_to_wait());
  }
  return kBetweenLooks * std::max<int64_t>(turns, 1);
}

bool Background::work(std::unique_lock<std::mutex>& lock) {
  bool one_has_its_turn = false;
  for (auto at = to_end_.begin(); at != to_end_.end(); ++at) {
    BackgroundCommit& commit = **at;
    if (commit.is_root() && std::exchange(one_has_its_turn, true)) {
      continue;
    }
    lock.unlock();
    const BackgroundCommit::Step step = commit.try_to_end();
    lock.lock();
    if (step != BackgroundCommit::Step::kNotYet) {
      Queue over;
      Queue& next = step == BackgroundCommit::Step::kFailed ? failed_ : over;
      next.splice(next.end(), to_end_, at);
      ended_.notify_all();
      return true;
    }
  }
  const auto ready =
      std::find_if(to_write_.begin(), to_write_.end(), [](const auto& commit) { return commit->turns_to_wait() == 0; });
  if (ready == to_write_.end()) {
    return false;
  }
  const std::shared_ptr<BackgroundCommit> commit = *ready;
  lock.unlock();
  commit->write();
  lock.lock();
  Queue done;
  Queue& next = commit->is_first() ? to_end_ : done;
  next.splice(next.end(), to_write_, ready);
  ended_.notify_all();
  return true;
}

}  // namespace stria::file
