// The spans of the calls of the MPI-IO interface.
#pragma once

#include <cstdint>

#include "trace/counters/file_counters.hpp"
#include "trace/record/span.hpp"

namespace stria::mpiio {

/// Records the call `name`, a string that lives as long as the program, for as long as the
/// object lives: on the layer app, or on the layer library inside another recorded call, such
/// as one of HDF5.
class CallSpan {
 public:
  CallSpan(const char* name, uint16_t file);
  ~CallSpan();
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;

  /// Returns the innermost recorded call of this thread; null when there is none.
  static CallSpan* innermost();
  /// Says how many bytes are moved and where the first of them is in the file; -1 where
  /// none is moved.
  void describe(int64_t bytes, int64_t offset);

 private:
  trace::FileSpan span_;
  CallSpan* outer_;
};

/// Tells the trace what the call under way on this thread moves: for its file's counters
/// and for its span.
void describe_transfer(trace::FileCounters& counters, bool writes, int64_t bytes, int64_t offset);

}  // namespace stria::mpiio
