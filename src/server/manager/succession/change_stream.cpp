#include "server/manager/succession/change_stream.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "base/check.hpp"

namespace stria::server {

namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;
constexpr size_t kMostPieces = 1024;
constexpr size_t kPiecesBytes = size_t{384} << 10;
// One that has its copy yet to write and to sync.
constexpr std::chrono::seconds kPatienceForCopy{60};

}  // namespace

void ChangeStream::had_standby(const wire::Identity& standby) {
  const std::lock_guard lock(mutex_);
  standby_ = standby == wire::Identity{} ? standby_ : standby;
  state_ = State::kUnsure;
}

void ChangeStream::begin(uint64_t number, const wire::Identity& standby) {
  const std::lock_guard lock(mutex_);
  leave_locked();
  number_ = number;
  standby_ = standby;
  applied_ = last_;
  heard_ = Clock::now();
}

void ChangeStream::leave_locked() {
  STRIA_ASSERT(bytes_ >= 0 && applied_ <= last_, bytes_, applied_, last_);
  number_ = 0;
  changes_.clear();
  bytes_ = 0;
  state_ = state_ == State::kInStep ? State::kUnsure : state_;
}

void ChangeStream::leave() {
  const std::lock_guard lock(mutex_);
  leave_locked();
}

bool ChangeStream::is_followed() const {
  const std::lock_guard lock(mutex_);
  return number_ != 0;
}

uint64_t ChangeStream::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

ChangeStream::State ChangeStream::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

wire::Identity ChangeStream::standby() const {
  const std::lock_guard lock(mutex_);
  return standby_;
}

int64_t ChangeStream::behind() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(changes_.size());
}

bool ChangeStream::was_heard_within(std::chrono::milliseconds time) const {
  const std::lock_guard lock(mutex_);
  return number_ != 0 && Clock::now() - heard_ < time;
}

void ChangeStream::add(std::vector<Change> changes) {
  std::function<void()> ring;
  {
    const std::lock_guard lock(mutex_);
    if (number_ == 0) {
      // What was recorded before it was lost has its place all the same: nobody is told of it yet.
      last_ += changes.size();
      return;
    }
    for (Change& change : changes) {
      change.sequence = ++last_;
      bytes_ += static_cast<int64_t>(change.bytes.size());
      changes_.push_back(std::move(change));
    }
    if (bytes_ > kMostBytes) {
      leave_locked();
    }
    ring = std::exchange(follower_, nullptr);
  }
  if (ring) {
    ring();
  }
}

// Everything that may be told now; the rest waits on.
ChangeStream::Rings ChangeStream::take_ready_locked() {
  Rings ready;
  for (auto entry = waiting_.begin(); entry != waiting_.end() && may_answer_locked(entry->first);) {
    ready.push_back(std::move(entry->second));
    entry = waiting_.erase(entry);
  }
  return ready;
}

Result<wire::Followed> ChangeStream::follow(const wire::Follow& request, std::function<void()> ring) {
  Rings ready;
  wire::Followed told;
  {
    const std::lock_guard lock(mutex_);
    if (number_ == 0 || request.number != number_ || request.standby != standby_ || request.applied > last_ ||
        request.applied < applied_) {
      return Status(ErrorCode::kAborted, "the manager doesn't know what this standby has: it needs another copy");
    }
    told.number = number_;
    heard_ = Clock::now();
    state_ = State::kInStep;
    applied_ = request.applied;
    while (!changes_.empty() && changes_.front().sequence <= applied_) {
      bytes_ -= static_cast<int64_t>(changes_.front().bytes.size());
      changes_.pop_front();
    }
    // What the standby lacks is here without a gap.
    STRIA_CHECK(changes_.size() == last_ - applied_ && bytes_ >= 0, changes_.size(), last_, applied_, bytes_);
    size_t bytes = 0;
    auto from = static_cast<size_t>(request.offset);
    for (const Change& change : changes_) {
      if (bytes >= kPiecesBytes || told.pieces.size() == kMostPieces) {
        break;
      }
      from = std::min(from, change.bytes.size());
      const size_t count = std::min(change.bytes.size() - from, kPiecesBytes - bytes);
      const auto begin = change.bytes.begin() + static_cast<ptrdiff_t>(from);
      told.pieces.push_back({change.sequence,
                             change.form,
                             change.durable,
                             from + count == change.bytes.size(),
                             {begin, begin + static_cast<ptrdiff_t>(count)}});
      bytes += count;
      from = 0;
    }
    follower_ = told.pieces.empty() ? std::move(ring) : nullptr;
    ready = take_ready_locked();
  }
  for (const auto& each : ready) {
    each();
  }
  return told;
}

bool ChangeStream::may_answer_locked(uint64_t sequence) const {
  return state_ == State::kAlone || (state_ == State::kInStep && applied_ >= sequence);
}

bool ChangeStream::may_answer(uint64_t sequence, std::function<void()> ring) {
  const std::lock_guard lock(mutex_);
  if (may_answer_locked(sequence)) {
    return true;
  }
  waiting_.emplace(sequence, std::move(ring));
  return false;
}

bool ChangeStream::wait(uint64_t sequence, std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  while (true) {
    const auto rung = std::make_shared<std::promise<void>>();
    if (may_answer(sequence, [rung] { rung->set_value(); })) {
      return true;
    }
    if (rung->get_future().wait_until(until) != std::future_status::ready) {
      return false;
    }
  }
}

bool ChangeStream::tidy() {
  const std::lock_guard lock(mutex_);
  const std::chrono::milliseconds patience = state_ == State::kInStep ? patience_ : kPatienceForCopy;
  const bool lost = number_ != 0 && Clock::now() - heard_ > patience;
  if (lost) {
    leave_locked();
  }
  return lost;
}

void ChangeStream::told_all() {
  Rings ready;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kUnsure) {
      state_ = State::kAlone;
    }
    ready = take_ready_locked();
  }
  for (const auto& each : ready) {
    each();
  }
}

}  // namespace stria::server
