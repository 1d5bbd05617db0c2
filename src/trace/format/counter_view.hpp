// The counters of a trace by what they are, whatever their order in the file.
#pragma once

#include <array>
#include <cstddef>

#include "trace/counters/counters.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::trace {

class CounterView {
 public:
  explicit CounterView(const TraceFile& trace) {
    for (size_t i = 0; i < places_.size(); ++i) {
      places_[i] = trace.counter_index(counter_name(static_cast<Counter>(i)));
    }
  }
  /// Zero where the trace, or this set, doesn't have the counter.
  int64_t value(const CounterSet& set, Counter counter) const {
    const int place = places_[static_cast<size_t>(counter)];
    return place >= 0 && static_cast<size_t>(place) < set.values.size() ? set.values[static_cast<size_t>(place)] : 0;
  }

 private:
  std::array<int, kCounterCount> places_{};
};

}  // namespace stria::trace
