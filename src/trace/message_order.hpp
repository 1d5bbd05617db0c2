// Lets no message arrive before it was sent.
//
// Problem: clocks are known to within a few hundred nanoseconds, and some messages are faster. Method: the messages that were
// recorded on both sides bound the clocks further: a receive ends after its send began. Each rank is shifted by a constant, the
// least that satisfies all of these bounds (differences of potentials: Bellman-Ford). Cost: a sort of the messages, then rounds
// over pairs of ranks that met. Where no such shifts exist, or more than the clocks' error were needed, nothing is changed.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace_file.hpp"

namespace stria::trace {

/// Nanoseconds to add to the times of each rank. Uses spans of kinds "send" and "receive", whose offset is the message's tag:
/// the i-th from one rank to another with one tag is the i-th that is received.
std::vector<int64_t> message_shifts(const TraceFile& trace);

}  // namespace stria::trace
