// Counts how long this rank waits, as long as the object lives: for other ranks, for its turn, or
// for work in the background. The time counts for the file of the call under way. A wait within a
// wait counts once.
// Cost: two readings of the clock and an uncontended lock, beside a wait of microseconds.
#pragma once

#include <cstdint>

#include "trace/events/ticks.hpp"
#include "trace/record/span.hpp"

namespace stria::trace {

class WaitTimer {
 public:
  WaitTimer() {
    if (is_counting() && ring().file != 0 && !ring().is_waiting) {
      ring().is_waiting = true;
      file_ = ring().file;
      begin_ = ticks();
    }
  }
  ~WaitTimer() {
    if (file_ != 0) {
      ring().is_waiting = false;
      count(ticks() - begin_);
    }
  }
  WaitTimer(const WaitTimer&) = delete;
  WaitTimer& operator=(const WaitTimer&) = delete;

 private:
  void count(int64_t waited_ticks) const;

  uint16_t file_ = 0;  ///< 0: doesn't count
  int64_t begin_ = 0;
};

}  // namespace stria::trace
