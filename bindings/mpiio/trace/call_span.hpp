// The spans of the calls of the MPI-IO interface.
#pragma once

#include <cstdint>

#include "trace/file_counters.hpp"
#include "trace/span.hpp"

namespace stria::mpiio {

/// Records the call `name`, a string that lives as long as the program, for as long as the
/// object lives: on the layer app, or on library where it is made inside another recorded
/// call, as by HDF5.
class CallSpan {
 public:
  CallSpan(const char* name, uint16_t file);
  ~CallSpan();
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;

  /// The innermost on this thread that is recorded; null when none is.
  static CallSpan* innermost();
  /// Says how much is moved from where in the file: the place of the first byte; -1
  /// where nothing is.
  void describe(int64_t bytes, int64_t offset);

 private:
  trace::FileSpan span_;
  CallSpan* outer_;
};

/// What the call under way on this thread moves, for the trace: counted for its file, and
/// said of its span.
void describe_transfer(trace::FileCounters& counters, bool writes, int64_t bytes, int64_t offset);

}  // namespace stria::mpiio
