#include "file/background/background.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "base/signals_blocked.hpp"
#include "comm/waiting.hpp"
#include "trace/record/background_timer.hpp"

namespace stria::file {

namespace {

constexpr int kNiceness = 5;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr int64_t kMostTurnsAsleep = 100;
// How often the program, while it waits, looks whether the wait lasts.
constexpr std::chrono::milliseconds kBetweenReports{100};

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
  STRIA_CHECK(commit.size() == 1, commit.size());
  const std::unique_lock lock(mutex_);
  STRIA_CHECK(thread_.joinable());
  follow_last(lock, *commit.front());
  to_write_.splice(to_write_.end(), commit);
  work_.notify_one();
}

// The turn among the ranks of the node holds for each file by itself where memory for this is
// scarce.
void Background::follow_last(const Held& lock, BackgroundCommit& commit) noexcept {
  STRIA_ASSERT(holds(lock, mutex_));
  static_cast<void>(or_out_of_memory([&] {
    std::erase_if(last_boards_, [](const auto& entry) { return entry.second->ranks_to_come() == 0; });
    std::shared_ptr<const OutcomeBoard>& last = last_boards_[commit.ranks()];
    commit.follow(std::exchange(last, commit.board()));
    return Status();
  }));
}

std::shared_ptr<BackgroundCommit> Background::find_under_way(
    const Held& lock, const std::function<bool(const BackgroundCommit&)>& is_meant) const {
  STRIA_ASSERT(holds(lock, mutex_));
  for (const Queue* const queue : {&to_end_, &to_write_}) {
    const auto found = std::find_if(queue->begin(), queue->end(), [&](const auto& commit) { return is_meant(*commit); });
    if (found != queue->end()) {
      return *found;
    }
  }
  return nullptr;
}

void Background::wait_until_none(Held& lock, const Find& under_way) {
  STRIA_ASSERT(holds(lock, mutex_));
  LongWait wait;
  while (const std::shared_ptr<BackgroundCommit> commit = under_way()) {
    if (!wait.has_begun()) {
      wait.begin();
    }
    ended_.wait_for(lock, kBetweenReports);
    commit->look_at_wait(wait);
  }
}

void Background::wait_for_name(const std::string& stored_path) {
  if (process_ == getpid()) {
    std::unique_lock lock(mutex_);
    wait_until_none(lock, [&] {
      return find_under_way(lock, [&](const BackgroundCommit& commit) { return commit.stored_path() == stored_path; });
    });
  }
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
  return failure;
}

void Background::finish() {
  if (process_ != getpid()) {
    return;
  }
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
    const auto any = [&] { return find_under_way(lock, [](const BackgroundCommit&) { return true; }); };
    if (const auto first = any()) {
      const trace::BackgroundTimer timer(first->trace_id(), trace::BuiltIn::kBackgroundWait, trace::Counter::kBackgroundWaitNs);
      const CallNote note("MPI_Finalize()", "", first->wait_limits());
      wait_until_none(lock, any);
    }
    last_boards_.clear();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  for (const auto& commit : failed_) {
    commit->tell_if_unheard();
  }
  failed_.clear();
}

void Background::run() {
  // A lower priority than the ranks' is for this thread alone, however low theirs is. The kernel
  // takes what is beyond the lowest for the lowest.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), getpriority(PRIO_PROCESS, 0) + kNiceness);
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

// The k-th of n ranks that wait for their turn looks each k milliseconds: together they wake up
// about log(n) times in a millisecond, not n times.
Pace::Clock::duration Background::pause() const {
  int64_t turns = to_end_.empty() ? kMostTurnsAsleep : 1;
  for (const auto& commit : to_write_) {
    turns = std::min(turns, commit->turns_to_wait());
  }
  const Pace::Clock::duration until_turn = kBetweenLooks * std::max<int64_t>(turns, 1);
  return to_end_.empty() && turns == 0 ? std::max(until_turn, pace_.pause(Pace::Clock::now())) : until_turn;
}

bool Background::end_some(Held& lock) {
  STRIA_ASSERT(holds(lock, mutex_));
  bool one_has_its_turn = false;
  for (auto at = to_end_.begin(); at != to_end_.end(); ++at) {
    BackgroundCommit& commit = **at;
    if (commit.is_root() && std::exchange(one_has_its_turn, true)) {
      continue;
    }
    lock.unlock();
    const BackgroundCommit::Step step = commit.try_to_end(pace_);
    lock.lock();
    if (step == BackgroundCommit::Step::kGoesOn) {
      return true;
    }
    if (step != BackgroundCommit::Step::kNotYet) {
      Queue over;
      Queue& next = step == BackgroundCommit::Step::kFailed ? failed_ : over;
      next.splice(next.end(), to_end_, at);
      ended_.notify_all();
      return true;
    }
  }
  return false;
}

bool Background::work(Held& lock) {
  if (end_some(lock)) {
    return true;
  }
  const auto ready =
      std::find_if(to_write_.begin(), to_write_.end(), [](const auto& commit) { return commit->turns_to_wait() == 0; });
  if (ready == to_write_.end() || !pace_.may_write(Pace::Clock::now())) {
    return false;
  }
  const std::shared_ptr<BackgroundCommit> commit = *ready;
  lock.unlock();
  const bool is_written = commit->write_piece(pace_);
  lock.lock();
  if (is_written) {
    Queue done;
    Queue& next = commit->is_first() ? to_end_ : done;
    next.splice(next.end(), to_write_, ready);
    ended_.notify_all();
  }
  return true;
}

}  // namespace stria::file
