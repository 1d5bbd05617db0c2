// The clock of this rank's records, and when it began.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "trace/events/ticks.hpp"

namespace stria::trace {

class RunClock {
 public:
  RunClock() { set(monotonic_ns); }

  int64_t now_ns() const { return clock_(); }
  /// Returns the first moment at which recording could begin: now_ns(), and the time of day then.
  int64_t begin_ns() const { return begin_ns_; }
  int64_t begin_unix_ns() const { return begin_unix_ns_; }
  /// Sets another clock for this rank, used for comparing clocks and for records that are appended
  /// directly. Tests call it.
  void set(std::function<int64_t()> clock);

 private:
  std::function<int64_t()> clock_;
  int64_t begin_ns_ = 0;
  int64_t begin_unix_ns_ = 0;
};

}  // namespace stria::trace
