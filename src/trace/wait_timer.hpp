// Counts how long this rank stands still, for the file that the calls under way are about, for as long as the object lives:
// for other ranks, for its turn, for what works for it in the background. Two readings of the clock, and a lock that nobody
// else wants, beside a wait of microseconds.
#pragma once

#include <cstdint>

#include "trace/span.hpp"
#include "trace/ticks.hpp"

namespace stria::trace {

class WaitTimer {
 public:
  WaitTimer() : file_(is_counting() ? ring().file : uint16_t{0}), begin_(file_ != 0 ? ticks() : 0) {}
  ~WaitTimer() {
    if (file_ != 0) {
      count(ticks() - begin_);
    }
  }
  WaitTimer(const WaitTimer&) = delete;
  WaitTimer& operator=(const WaitTimer&) = delete;

 private:
  void count(int64_t waited_ticks) const;

  uint16_t file_;
  int64_t begin_;
};

}  // namespace stria::trace
