// Corrects clocks so that no message arrives before it was sent.
//
// Problem: clocks are known to within a few hundred nanoseconds, but some messages are faster.
// Method: messages that were recorded on both sides bound the clocks further, since a receive ends
// after its send began. Each rank is shifted by a constant: the least shifts that satisfy all of
// these bounds (a system of differences, solved by Bellman-Ford).
// Cost: a sort of the messages, then rounds over the pairs of ranks that exchanged any. Where no
// such shifts exist, or they would pass the clocks' error, nothing is changed.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::trace {

/// Returns the nanoseconds to add to the times of each rank. Uses spans of the kinds "send" and
/// "receive", whose offset is the message's tag. The i-th message sent from one rank to another
/// with a tag is the i-th that is received.
std::vector<int64_t> message_shifts(const TraceFile& trace);

}  // namespace stria::trace
