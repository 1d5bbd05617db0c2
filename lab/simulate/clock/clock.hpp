// Virtual time for many ranks in one process.
//
// Problem: what ten thousands of processes do on a machine of the past must be known in minutes,
// and with the same result each time.
// Method: each rank is a fiber. Whatever takes time becomes an event at a later moment; when every
// rank waits, the clock jumps to the next event. Nothing is left to chance or to real time: of two
// events at one moment the one that was made first comes first.
// Cost: a push and a pop of a heap for each event, and two switches of stacks for each wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "clock/timeline.hpp"
#include "comm/simulated/fiber.hpp"
#include "stria/status.hpp"

namespace stria::simulate {

/// Thrown to unwind the ranks of a run that ends early. It is no std::exception, so that code that
/// catches those lets it pass.
struct Cancelled {};

class Clock {
 public:
  void add_rank(std::span<std::byte> stack, std::function<void()> body);
  /// Runs until every rank has ended. kInternal, with the ranks' states, when none can go on.
  Status run();
  /// Returns the first exception that left a rank, if any.
  std::exception_ptr exception() const { return exception_; }

  /// Returns the seconds since the beginning.
  double now() const { return now_; }
  int64_t events() const { return events_done_; }
  /// Calls `action` at a moment; a moment that has passed counts as now.
  void at(double moment, std::function<void()> action) { push(moment, -1, std::move(action)); }
  /// Lets a rank that blocks look again at a moment.
  void wake(int rank, double moment) { push(moment, rank, {}); }

  // The running rank calls the following functions.
  int current() const { return current_; }
  /// The processor is busy for some more seconds. What the rank does next begins after them.
  void charge(double seconds);
  /// When this rank's processor is free: now, or later.
  double free_at() const;
  /// Waits until wake(), and until the processor is free. `why` says what for, in a deadlock.
  void block(const char* why);
  void sleep_until(double moment);
  /// Waits until the processor is free.
  void settle() { sleep_until(free_at()); }
  /// True while the run is given up: a caller in a destructor then must not wait.
  bool is_cancelled() const { return cancelling_; }
  void fail(Status why);

  /// Spans are kept there from now on, which must outlive this; null: nowhere.
  void record(Timeline* timeline) { timeline_ = timeline; }
  /// The running rank did this since `begin_s`.
  void note(trace::BuiltIn kind, double begin_s, int64_t bytes = -1, int64_t offset = -1);

 private:
  struct Rank {
    std::unique_ptr<Fiber> fiber;
    double free_at = 0;
    const char* state = "has not begun";
  };
  struct Event {
    double moment;
    int64_t number;
    int rank;
    std::function<void()> action;
    bool operator>(const Event& other) const { return moment != other.moment ? moment > other.moment : number > other.number; }
  };
  void push(double moment, int rank, std::function<void()> action);
  void resume(int rank);
  void leave();
  void cancel();
  Status deadlock() const;

  std::vector<Rank> ranks_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0;
  int64_t events_made_ = 0;
  int64_t events_done_ = 0;
  int current_ = -1;
  size_t unfinished_ = 0;
  Timeline* timeline_ = nullptr;
  bool cancelling_ = false;
  Status failure_;
  std::exception_ptr exception_;
};

}  // namespace stria::simulate
