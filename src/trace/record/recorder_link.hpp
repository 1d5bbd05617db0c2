// One recorder for two libraries of a program, each of which contains this code.
//
// Problem: libstria_trace and libstria_mpiio can be preloaded together. Each has its own copy of
// all this, hidden from the other. So each would write a trace, and no span of one would lie inside
// a span of the other.
// Method: one offers its recorder, and the other uses that in place of its own. Objects are the
// same only in libraries of one build, so that their layouts are compared first.
// Cost: a look at a pointer where a recorder or a thread's ring is asked for.
#pragma once

#include <atomic>
#include <cstdint>

namespace stria::trace {

class Recorder;
class Ring;

struct RecorderLink {
  uint64_t layout = 0;  ///< equal in libraries of one build
  Recorder& (*recorder)() = nullptr;
  Ring& (*thread_ring)() = nullptr;  ///< the ring of the calling thread
  /// Makes that library record what this one records.
  void (*follow_levels)(std::atomic<uint32_t>&) = nullptr;
};

/// Returns the link that this library offers to others.
RecorderLink offered_link();

/// The spans of this library go to the recorder of another from now on. False, and no change, when
/// that library is of another build. Nothing has been recorded here; `link` lives as long as the
/// program.
bool use_link(const RecorderLink& link);

/// Returns the link in use; null while this library records by itself.
const RecorderLink* used_link();

}  // namespace stria::trace
