// A lock for some ten instructions, which hardly another thread ever wants. It takes one atomic
// exchange; a mutex takes two, with a call into the C library for each. A thread that does have to
// wait gives its processor away until the other is done.
#pragma once

#include <sched.h>

#include <atomic>

namespace stria::trace {

/// Works with std::lock_guard.
class ShortLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) {
      sched_yield();
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace stria::trace
