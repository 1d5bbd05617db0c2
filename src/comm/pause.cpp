#include "comm/pause.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace stria {

namespace {

// What takes longer than the yields is another rank's computation or I/O, where a sleep costs nothing that anyone would notice.
constexpr int kFirstSleepMicroseconds = 10;

}  // namespace

void polite_pause(int attempt, int yields) {
  if (attempt < yields) {
    sched_yield();
    return;
  }
  // Grows by a tenth of the sleeps made so far, so that the time lost at the end stays in proportion to the time waited.
  const int microseconds = std::min(kLongestPauseMicroseconds, kFirstSleepMicroseconds + 4 * (attempt - yields));
  const timespec duration{0, microseconds * 1000L};
  nanosleep(&duration, nullptr);
}

}  // namespace stria
