#include "trace/events/ticks.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stria::trace {

namespace {

bool trust_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kInvariantCounter = 1U << 8;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0 || (d & kInvariantCounter) == 0) {
    return false;
  }
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return source == "tsc";
#else
  return false;
#endif
}

// Readings that are closer together say little about the rate.
constexpr int64_t kAnchorDistanceNs = 1'000'000;

}  // namespace

bool counter_is_clock = false;

namespace {

struct BothClocks {
  int64_t ticks = 0;
  int64_t ns = 0;
};
constinit BothClocks beginning;

__attribute__((constructor(200))) void detect_clock() {
  counter_is_clock = trust_counter();
  beginning = {ticks(), monotonic_ns()};
}

}  // namespace

int64_t ticks_to_ns(int64_t stretch) {
  if (!counter_is_clock) {
    return stretch;
  }
  const BothClocks now{ticks(), monotonic_ns()};
  const int64_t passed = std::max<int64_t>(now.ticks - beginning.ticks, 1);
  return static_cast<int64_t>(static_cast<double>(stretch) * static_cast<double>(now.ns - beginning.ns) /
                              static_cast<double>(passed));
}

TickScale::TickScale() {
  anchor();
}

void TickScale::anchor() {
  // The best of a few readings is that with the least time between its two sides.
  Anchor best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int attempt = 0; attempt < 5; ++attempt) {
    const int64_t before = ticks();
    const int64_t ns = monotonic_ns();
    const int64_t after = ticks();
    if (after - before < least) {
      least = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  if (anchors_.size() >= 3 && best.ns - anchors_[anchors_.size() - 2].ns < kAnchorDistanceNs) {
    anchors_.pop_back();
  }
  if (!anchors_.empty()) {
    Anchor& before = anchors_.back();
    before.rate =
        static_cast<double>(best.ns - before.ns) / static_cast<double>(std::max<int64_t>(best.ticks - before.ticks, 1));
  }
  anchors_.push_back(best);
}

const TickScale::Anchor& TickScale::earlier(int64_t at) const {
  const auto behind = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, at,
                                       [](int64_t value, const Anchor& anchor) { return value < anchor.ticks; });
  return *(behind - 1);
}

}  // namespace stria::trace
