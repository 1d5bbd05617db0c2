// Counts the time that a thread in the background works for a file, or that the program waits for
// it, as long as the object lives, and records it as a span in the thread's own row. Of the work it
// also counts the processor time, which the program may have lacked.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "trace/counters/file_counters.hpp"
#include "trace/events/kinds.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::trace {

class BackgroundTimer {
 public:
  BackgroundTimer(uint16_t file, BuiltIn kind, Counter counter)
      : counters_(Recorder::instance().counters(file)), counter_(counter), span_(trace::kind(kind), file) {}
  ~BackgroundTimer() {
    const auto seconds = std::chrono::steady_clock::now() - start_;
    counters_.add(counter_, std::chrono::duration_cast<std::chrono::nanoseconds>(seconds).count());
    if (counter_ == Counter::kBackgroundNs) {
      counters_.add(Counter::kBackgroundCpuNs, processor_ns() - processor_start_ns_);
    }
  }
  BackgroundTimer(const BackgroundTimer&) = delete;
  BackgroundTimer& operator=(const BackgroundTimer&) = delete;

  void set_bytes(int64_t bytes) { span_->set_bytes(bytes); }

 private:
  static int64_t processor_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
  }

  FileCounters& counters_;
  Counter counter_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t processor_start_ns_ = processor_ns();
  FileSpan span_;
};

}  // namespace stria::trace
