#include "comm/pause.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace stria {

namespace {

// A yield and a test cost about a microsecond when no other thread wants the core. Some 100 µs of
// them cover the usual latency of a small collective. A longer wait is for another rank's
// computation or I/O, beside which the cost of a sleep doesn't show.
constexpr int kFirstSleepMicroseconds = 10;

}  // namespace

void polite_pause(int attempt) {
  if (attempt < kYieldingPauses) {
    sched_yield();
    return;
  }
  // Each sleep is longer than the one before, so that the time lost at the end stays in proportion
  // to the time waited.
  const int microseconds = std::min(kLongestPauseMicroseconds, kFirstSleepMicroseconds + 4 * (attempt - kYieldingPauses));
  const timespec duration{0, microseconds * 1000L};
  nanosleep(&duration, nullptr);
}

namespace {

// An answer that is on its way comes within a few context switches.
constexpr int kYieldsBeforeSleep = 20;
constexpr long kSleepNanoseconds = 1'000'000;

}  // namespace

bool sleep_while(std::atomic<uint32_t>& word, uint32_t seen) {
  for (int i = 0; i < kYieldsBeforeSleep; ++i) {
    if (word.load() != seen) {
      return true;
    }
    sched_yield();
  }
  const timespec longest{0, kSleepNanoseconds};
  syscall(SYS_futex, futex_word(word), FUTEX_WAIT, seen, &longest, nullptr, 0);
  return word.load() != seen;
}

void wake_sleepers(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, futex_word(word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace stria
