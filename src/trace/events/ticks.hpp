// The clock of spans. It is cheaper to read than the system's; its ticks are turned into the
// system's nanoseconds afterwards.
//
// Problem: a span reads the clock twice, and clock_gettime takes most of the time that a
// span may cost.
// Method: where the processor counts at a constant rate on all cores, and the system itself
// trusts that counter, it is read directly. Now and then a reading of both clocks is kept, and
// ticks between two such readings are placed linearly. Elsewhere a tick is a nanosecond of the
// monotonic clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

namespace stria::trace {

/// Returns the nanoseconds of the system's monotonic clock.
inline int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// True where the processor's counter is as good as the system's clock. It is set before any other
/// initialisation.
extern bool counter_is_clock;

inline int64_t ticks() {
#if defined(__x86_64__)
  if (counter_is_clock) {
    return static_cast<int64_t>(__builtin_ia32_rdtsc());  // <x86intrin.h> takes long to compile
  }
#endif
  return monotonic_ns();
}

/// Turns a number of ticks into nanoseconds, by the rate since the program began. Reads both
/// clocks, so that it is too slow for every span.
int64_t ticks_to_ns(int64_t stretch);

/// Turns ticks into monotonic_ns(). Not thread-safe.
class TickScale {
 public:
  TickScale();
  /// Keeps a reading of both clocks. To be called before to_ns(), for ticks up to now.
  void anchor();
  int64_t to_ns(int64_t at) const {
    if (!counter_is_clock) {
      return at;
    }
    // Most ticks lie between the last two readings.
    const size_t last = anchors_.size() < 2 ? 0 : anchors_.size() - 2;
    const Anchor& a = at >= anchors_[last].ticks ? anchors_[last] : earlier(at);
    return a.ns + static_cast<int64_t>(static_cast<double>(at - a.ticks) * a.rate);
  }

 private:
  struct Anchor {
    int64_t ticks = 0;
    int64_t ns = 0;
    double rate = 0;  ///< nanoseconds per tick, up to the next anchor
  };
  const Anchor& earlier(int64_t at) const;

  std::vector<Anchor> anchors_;
};

}  // namespace stria::trace
