// The clock of spans: cheaper to read than the system's, and turned into the system's nanoseconds afterwards.
//
// Problem: a span reads the clock twice, and clock_gettime takes most of the time that a span may cost. Method: where the
// processor counts at a constant rate on all cores, and the system itself trusts that counter, it is read directly; now and
// then a reading of both clocks is kept, and ticks between two of those are placed linearly. Elsewhere a tick is a nanosecond
// of the monotonic clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace stria::trace {

/// Nanoseconds of the system's monotonic clock.
inline int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// True where the processor's counter is as good as the system's clock. Set before any other initialisation.
extern bool counter_is_clock;

inline int64_t ticks() {
#if defined(__x86_64__)
  if (counter_is_clock) {
    return static_cast<int64_t>(__rdtsc());
  }
#endif
  return monotonic_ns();
}

/// Nanoseconds of a stretch of ticks, by the rate since the program began. Reads both clocks: not for every stretch.
int64_t ticks_to_ns(int64_t stretch);

/// Turns ticks into monotonic_ns(). Not for use by several threads at once.
class TickScale {
 public:
  TickScale();
  /// Keeps a reading of both clocks: call before to_ns(), for ticks up to now.
  void anchor();
  int64_t to_ns(int64_t at) const {
    if (!counter_is_clock) {
      return at;
    }
    // Most are of the stretch before the last reading.
    const size_t last = anchors_.size() < 2 ? 0 : anchors_.size() - 2;
    const Anchor& a = at >= anchors_[last].ticks ? anchors_[last] : earlier(at);
    return a.ns + static_cast<int64_t>(static_cast<double>(at - a.ticks) * a.rate);
  }

 private:
  struct Anchor {
    int64_t ticks = 0;
    int64_t ns = 0;
    double rate = 0;  ///< nanoseconds a tick, up to the next anchor
  };
  const Anchor& earlier(int64_t at) const;

  std::vector<Anchor> anchors_;
};

}  // namespace stria::trace
