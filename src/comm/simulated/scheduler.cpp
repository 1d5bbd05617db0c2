#include "comm/simulated/scheduler.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace stria {

namespace {

constexpr uint64_t kUsualDelayTicks = 8;
constexpr uint64_t kLongDelayTicks = 400;
constexpr uint64_t kOneLongDelayIn = 16;
constexpr int kStatesShown = 64;

}  // namespace

std::string WaitState::describe() const {
  if (direction == nullptr) {
    return what;
  }
  return std::string(what) + " " + std::to_string(bytes) + " bytes " + direction + " rank " + std::to_string(peer) +
         " with tag " + std::to_string(tag);
}

Scheduler::Scheduler(uint64_t seed, int64_t stall_ms) : random_(seed), stall_(stall_ms) {}

void Scheduler::add_rank(std::span<std::byte> stack, std::function<void()> body) {
  ready_.push_back(static_cast<int>(ranks_.size()));
  ranks_.push_back({std::make_unique<Fiber>(stack, std::move(body)), true, {}});
  ++unfinished_;
}

Status Scheduler::run() {
  while (unfinished_ > 0 && failure_.ok() && exception_ == nullptr) {
    turn();
  }
  cancel();
  return failure_;
}

/// Lets one rank run up to its next call, or the clock up to the next event when no rank can.
void Scheduler::turn() {
  if (ready_.empty()) {
    if (events_.empty()) {
      fail(deadlock());
      return;
    }
    tick_ = std::max(tick_, events_.top().tick);
  }
  run_due_events();
  if (ready_.empty()) {
    return;
  }
  const size_t chosen = random(ready_.size());
  const int rank = ready_[chosen];
  ready_[chosen] = ready_.back();
  ready_.pop_back();
  ranks_[static_cast<size_t>(rank)].ready = false;
  ++tick_;
  switch_to(rank);
}

void Scheduler::run_due_events() {
  while (!events_.empty() && events_.top().tick <= tick_ && failure_.ok()) {
    const std::function<void()> action = events_.top().action;
    events_.pop();
    idle_polls_ = 0;
    action();
  }
}

void Scheduler::switch_to(int rank) {
  Rank& chosen = ranks_[static_cast<size_t>(rank)];
  current_ = rank;
  check::note_rank_of_thread(rank);
  chosen.fiber->resume();
  check::note_rank_of_thread(-1);
  current_ = -1;
  if (chosen.fiber->finished()) {
    --unfinished_;
    idle_polls_ = 0;
    if (chosen.fiber->exception() != nullptr && exception_ == nullptr && !cancelling_) {
      exception_ = chosen.fiber->exception();
    }
  }
}

/// Goes back to the scheduler. When the run has been given up meanwhile, unwinds the stack.
void Scheduler::leave() {
  if (!cancelling_) {
    ranks_[static_cast<size_t>(current_)].fiber->suspend();
  }
  if (cancelling_ && std::uncaught_exceptions() == 0) {
    throw SimulationCancelled();
  }
}

void Scheduler::yield() {
  wake(current_);
  leave();
}

void Scheduler::poll() {
  if (idle_polls_++ == 0) {
    idle_since_ = std::chrono::steady_clock::now();
  }
  // All ranks have asked several times and no message is under way. What they wait for can only
  // come from outside, for instance from a thread that writes, which needs the processor.
  if (events_.empty() && idle_polls_ > 4 * static_cast<int64_t>(ranks_.size())) {
    const timespec moment{0, 100000};
    nanosleep(&moment, nullptr);
    if (std::chrono::steady_clock::now() - idle_since_ > stall_) {
      fail(deadlock());
    }
  }
  ranks_[static_cast<size_t>(current_)].state = {.what = "polls"};
  yield();
}

void Scheduler::block(const WaitState& state) {
  ranks_[static_cast<size_t>(current_)].state = state;
  leave();
}

void Scheduler::wake(int rank) {
  Rank& woken = ranks_[static_cast<size_t>(rank)];
  if (!woken.ready) {
    woken.ready = true;
    ready_.push_back(rank);
  }
}

void Scheduler::schedule(std::function<void()> event) {
  const uint64_t delay = random(random(kOneLongDelayIn) == 0 ? kLongDelayTicks : kUsualDelayTicks);
  events_.push({tick_ + static_cast<int64_t>(delay), event_count_++, std::move(event)});
  idle_polls_ = 0;
}

void Scheduler::fail(Status why) {
  if (failure_.ok()) {
    failure_ = std::move(why);
  }
}

/// Unwinds every rank that has begun and not ended.
void Scheduler::cancel() {
  cancelling_ = true;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    Fiber& fiber = *ranks_[rank].fiber;
    while (fiber.started() && !fiber.finished()) {
      switch_to(static_cast<int>(rank));
    }
  }
}

Status Scheduler::deadlock() const {
  std::string text = "deadlock: no rank can go on and no message is under way;";
  int shown = 0;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].fiber->finished()) {
      continue;
    }
    if (++shown <= kStatesShown) {
      text += " rank " + std::to_string(rank) + " " + ranks_[rank].state.describe() + ";";
    }
  }
  text += " " + std::to_string(static_cast<int64_t>(ranks_.size()) - shown) + " ranks have ended";
  if (shown > kStatesShown) {
    text += " (" + std::to_string(shown - kStatesShown) + " more are waiting)";
  }
  return Status(ErrorCode::kInternal, text);
}

}  // namespace stria
