#include "comm/pause.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace stria {

namespace {

// A yield and a test cost about a microsecond when nobody else wants the core: some 100 µs of them cover the usual latency of a
// small collective. What takes longer is another rank's computation or I/O, where a sleep costs nothing that anyone would
// notice.
constexpr int kYields = 400;
constexpr int kFirstSleepMicroseconds = 10;

}  // namespace

void polite_pause(int attempt) {
  if (attempt < kYields) {
    sched_yield();
    return;
  }
  // Grows by a tenth of the sleeps made so far, so that the time lost at the end stays in proportion to the time waited.
  const int microseconds = std::min(kLongestPauseMicroseconds, kFirstSleepMicroseconds + 4 * (attempt - kYields));
  const timespec duration{0, microseconds * 1000L};
  nanosleep(&duration, nullptr);
}

}  // namespace stria
