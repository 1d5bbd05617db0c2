#include "clock/clock.hpp"

#include <algorithm>
#include <utility>

namespace stria::simulate {

namespace {

constexpr int kStatesShown = 16;

}  // namespace

void Clock::add_rank(std::span<std::byte> stack, std::function<void()> body) {
  wake(static_cast<int>(ranks_.size()), 0);
  ranks_.push_back({.fiber = std::make_unique<Fiber>(stack, std::move(body))});
  ++unfinished_;
}

void Clock::push(double moment, int rank, std::function<void()> action) {
  events_.push({std::max(moment, now_), events_made_++, rank, std::move(action)});
}

Status Clock::run() {
  while (unfinished_ > 0 && failure_.ok() && exception_ == nullptr) {
    if (events_.empty()) {
      fail(deadlock());
      break;
    }
    // The queue hands out constants only; the event is dropped at once.
    Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.moment;
    ++events_done_;
    if (event.rank >= 0) {
      resume(event.rank);
    } else {
      event.action();
    }
  }
  cancel();
  return failure_;
}

void Clock::resume(int rank) {
  Rank& chosen = ranks_[static_cast<size_t>(rank)];
  if (chosen.fiber->finished()) {
    return;
  }
  current_ = rank;
  chosen.state = "runs";
  chosen.fiber->resume();
  current_ = -1;
  if (chosen.fiber->finished()) {
    --unfinished_;
    if (chosen.fiber->exception() != nullptr && exception_ == nullptr && !cancelling_) {
      exception_ = chosen.fiber->exception();
    }
  }
}

/// Goes back to run(). When the run has been given up meanwhile, unwinds the stack.
void Clock::leave() {
  if (!cancelling_) {
    ranks_[static_cast<size_t>(current_)].fiber->suspend();
  }
  if (cancelling_ && std::uncaught_exceptions() == 0) {
    throw Cancelled();
  }
}

void Clock::charge(double seconds) {
  ranks_[static_cast<size_t>(current_)].free_at = free_at() + seconds;
}

double Clock::free_at() const {
  return std::max(now_, ranks_[static_cast<size_t>(current_)].free_at);
}

void Clock::block(const char* why) {
  Rank& mine = ranks_[static_cast<size_t>(current_)];
  mine.state = why;
  leave();
}

void Clock::sleep_until(double moment) {
  if (moment <= now_) {
    return;
  }
  const int rank = current_;
  wake(rank, moment);
  while (now_ < moment && !cancelling_) {
    block("computes or sleeps");
  }
}

void Clock::note(trace::BuiltIn kind, double begin_s, int64_t bytes, int64_t offset) {
  if (timeline_ != nullptr && !cancelling_ && free_at() > begin_s) {
    timeline_->push_back({begin_s, free_at(), bytes, offset, current_, kind});
  }
}

void Clock::fail(Status why) {
  if (failure_.ok()) {
    failure_ = std::move(why);
  }
}

/// Unwinds every rank that has begun and not ended.
void Clock::cancel() {
  cancelling_ = true;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    while (ranks_[rank].fiber->started() && !ranks_[rank].fiber->finished()) {
      resume(static_cast<int>(rank));
    }
  }
}

Status Clock::deadlock() const {
  std::string text = "deadlock: no rank can go on and nothing is under way;";
  int waiting = 0;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].fiber->finished() && ++waiting <= kStatesShown) {
      text += " rank " + std::to_string(rank) + " " + ranks_[rank].state + ";";
    }
  }
  return Status(ErrorCode::kInternal,
                text + " " + std::to_string(waiting) + " of " + std::to_string(ranks_.size()) + " ranks have not ended");
}

}  // namespace stria::simulate
