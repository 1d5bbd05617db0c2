#include "trace/record/run_clock.hpp"

#include <ctime>

namespace stria::trace {

void RunClock::set(std::function<int64_t()> clock) {
  clock_ = std::move(clock);
  begin_ns_ = clock_();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  begin_unix_ns_ = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace stria::trace
