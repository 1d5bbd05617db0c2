#include "comm/pause.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace stria {

namespace {

// A yield and a test cost about a microsecond when nobody else wants the core: some 100 µs of them cover the usual latency of a
// small collective. What takes longer is another rank's computation or I/O, where a sleep costs nothing that anyone would
// notice.
constexpr int kFirstSleepMicroseconds = 10;

}  // namespace

void polite_pause(int attempt) {
  if (attempt < kYieldingPauses) {
    sched_yield();
    return;
  }
  // Grows by a tenth of the sleeps made so far, so that the time lost at the end stays in proportion to the time waited.
  const int microseconds = std::min(kLongestPauseMicroseconds, kFirstSleepMicroseconds + 4 * (attempt - kYieldingPauses));
  const timespec duration{0, microseconds * 1000L};
  nanosleep(&duration, nullptr);
}

namespace {

// An answer that is on its way comes within a few context switches.
constexpr int kYieldsBeforeSleep = 20;
constexpr long kSleepNanoseconds = 1'000'000;

uint32_t* word_of(std::atomic<uint32_t>& word) {
  return reinterpret_cast<uint32_t*>(&word);
}

}  // namespace

bool sleep_while(std::atomic<uint32_t>& word, uint32_t seen) {
  for (int i = 0; i < kYieldsBeforeSleep; ++i) {
    if (word.load() != seen) {
      return true;
    }
    sched_yield();
  }
  const timespec longest{0, kSleepNanoseconds};
  syscall(SYS_futex, word_of(word), FUTEX_WAIT, seen, &longest, nullptr, 0);
  return word.load() != seen;
}

void wake_sleepers(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, word_of(word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace stria
