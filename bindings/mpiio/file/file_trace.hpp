// Describes how the trace knows a file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "access/request/hints.hpp"
#include "trace/counters/file_counters.hpp"
#include "trace/record/recorder.hpp"

namespace stria::mpiio {

class FileTrace {
 public:
  /// `id`: the recorder's number of the file.
  explicit FileTrace(uint16_t id) : id_(id), counters_(trace::Recorder::instance().counters(id)) {}

  uint16_t id() const { return id_; }
  trace::FileCounters& counters() const { return counters_; }
  /// Tells whether the last such transfer had another method or reason, because there are many
  /// small transfers. Any thread.
  bool is_news(bool collective, access::Method method, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    Told& told = collective ? collective_ : independent_;
    if (told.method == method && told.reason == reason) {
      return false;
    }
    told = {method, reason};
    return true;
  }

 private:
  struct Told {
    access::Method method = access::Method::kAutomatic;
    std::string reason;
  };

  uint16_t id_;
  trace::FileCounters& counters_;
  std::mutex mutex_;
  Told collective_, independent_;
};

}  // namespace stria::mpiio
