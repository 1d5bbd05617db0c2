// Counters made from spans, for traces of programs that don't use Stria: the wrappers record calls
// but no counters.
#pragma once

#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Makes counters by rank and file. Opens, syncs, requests, pieces, bytes, sizes and order come
/// from the requests of the lowest layer that moved bytes; bytes put and got come from the
/// application's calls. Values are in the order of trace::Counter. What spans don't tell (phases,
/// alignment, methods) is 0.
std::vector<trace::CounterSet> counters_of_spans(const trace::TraceFile& trace);

}  // namespace stria::tool
