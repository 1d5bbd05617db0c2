// Runs the ranks of a simulation in turns: at each call of a rank, chance decides which
// rank runs next.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "comm/simulated/fiber.hpp"
#include "stria/status.hpp"

namespace stria {

/// Thrown to unwind the ranks of a run that ends early. It is no std::exception, so that code that
/// catches those lets it pass.
struct SimulationCancelled {};

/// Says what a rank waits for. It is put into words only when it is needed.
struct WaitState {
  const char* what = "runs";        ///< "receives", "polls"
  const char* direction = nullptr;  ///< "from" or "to" a peer; null: no message
  int peer = 0;
  int tag = 0;
  int64_t bytes = 0;
  std::string describe() const;
};

/// One fiber per rank, and events at later ticks of a clock that counts turns.
class Scheduler {
 public:
  Scheduler(uint64_t seed, int64_t stall_ms);

  void add_rank(std::span<std::byte> stack, std::function<void()> body);
  /// Runs until every rank has ended. The error says why that is impossible, or is that of fail().
  /// Afterwards no fiber is suspended.
  Status run();
  /// Returns the first exception that left a rank, if any.
  std::exception_ptr exception() const { return exception_; }
  int64_t switches() const { return tick_; }

  // The running rank calls the following functions.
  int current() const { return current_; }
  /// Lets chance decide which rank runs next; the caller stays ready.
  void yield();
  /// Does the same as yield(), for a caller that found nothing to do. After many of these without
  /// an event the run counts as a deadlock.
  void poll();
  /// Waits until wake(rank). `state` describes the wait, in case it never ends.
  void block(const WaitState& state);
  /// True when the run is being given up. The caller then must not wait, as it may be in a
  /// destructor while its stack unwinds.
  bool cancelled() const { return cancelling_; }

  // Any caller may call the following functions.
  void wake(int rank);
  /// Calls `event` after a random number of turns, usually few, sometimes many.
  void schedule(std::function<void()> event);
  /// Ends the run with this error.
  void fail(Status why);
  uint64_t random(uint64_t bound) { return random_() % bound; }

 private:
  struct Rank {
    std::unique_ptr<Fiber> fiber;
    bool ready = true;
    WaitState state;
  };
  struct Event {
    int64_t tick = 0;
    /// Two events at one tick come in the order in which they were made, so that runs repeat.
    int64_t number = 0;
    std::function<void()> action;
    bool operator>(const Event& other) const { return std::pair(tick, number) > std::pair(other.tick, other.number); }
  };
  void run_due_events();
  void turn();
  void switch_to(int rank);
  void leave();
  void cancel();
  Status deadlock() const;

  std::mt19937_64 random_;
  std::chrono::milliseconds stall_;
  std::vector<Rank> ranks_;
  std::vector<int> ready_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  int64_t event_count_ = 0;
  int64_t tick_ = 0;
  int current_ = -1;
  int unfinished_ = 0;
  bool cancelling_ = false;
  Status failure_;
  std::exception_ptr exception_;
  int64_t idle_polls_ = 0;
  std::chrono::steady_clock::time_point idle_since_;
};

}  // namespace stria
