// Counts the time that the background works for a file, or that the program waits for it, as long
// as the object lives, and records it as a span in the thread's own row.
#pragma once

#include <chrono>

#include "trace/counters/file_counters.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

class BackgroundTimer {
 public:
  BackgroundTimer(uint16_t file, const char* name, trace::Counter counter)
      : counters_(trace::Recorder::instance().counters(file)),
        counter_(counter),
        span_(trace::Recorder::instance().define_kind(name, trace::Layer::kEngine), file) {}
  ~BackgroundTimer() {
    const auto seconds = std::chrono::steady_clock::now() - start_;
    counters_.add(counter_, std::chrono::duration_cast<std::chrono::nanoseconds>(seconds).count());
  }
  BackgroundTimer(const BackgroundTimer&) = delete;
  BackgroundTimer& operator=(const BackgroundTimer&) = delete;

  void set_bytes(int64_t bytes) { span_->set_bytes(bytes); }

 private:
  trace::FileCounters& counters_;
  trace::Counter counter_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  trace::FileSpan span_;
};

}  // namespace stria::file
