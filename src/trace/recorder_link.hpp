// One recorder for two libraries of a program that each carry this code.
//
// Problem: libstria_trace and libstria_mpiio can be preloaded together. Each has its own copy of everything here, hidden from
// the other, so that each would write a trace, and no span of one would lie inside a span of the other. Method: one offers its
// recorder, and the other uses that in place of its own. The objects are the same only in libraries of one build: what they
// look like is compared first. Cost: a look at a pointer where a recorder or a thread's ring is asked for.
#pragma once

#include <atomic>
#include <cstdint>

namespace stria::trace {

class Recorder;
class Ring;

struct RecorderLink {
  uint64_t layout = 0;  ///< equal in libraries of one build
  Recorder& (*recorder)() = nullptr;
  Ring& (*thread_ring)() = nullptr;                         ///< of the calling thread
  void (*follow_levels)(std::atomic<uint32_t>&) = nullptr;  ///< keeps what is recorded there as it is here
};

/// What this library offers to others.
RecorderLink offered_link();

/// From now on this library's spans go to another's recorder. False when that is of another build; nothing changes then.
/// \pre nothing has been recorded here; `link` lives as long as the program
bool use_link(const RecorderLink& link);

/// The link in use; null while this library records by itself.
const RecorderLink* used_link();

}  // namespace stria::trace
