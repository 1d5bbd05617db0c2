// Counters made of spans, for traces of programs that don't use Stria: its wrappers record calls and no counters.
#pragma once

#include <vector>

#include "trace/trace_file.hpp"

namespace stria::tool {

/// Opens, syncs, requests, pieces, bytes, sizes and order, by rank and file, of the requests of the lowest layer that moved
/// bytes; bytes put and got by the calls of the application. Values in the order of trace::Counter. What spans don't tell
/// (phases, alignment, methods) is 0.
std::vector<trace::CounterSet> counters_of_spans(const trace::TraceFile& trace);

}  // namespace stria::tool
