// Finds which threads write commits in the background (docs/async.md). What they do takes no time
// from the program, so that it is no part of its rank's I/O.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Returns the pairs (rank, thread) with spans of the work of such a thread.
std::set<std::pair<int32_t, uint16_t>> background_threads(const trace::TraceFile& trace);

/// Tells whether this kind is the work of such a thread on one commit: writing, or ending it.
bool is_background_work(const trace::KindInfo& kind);

/// Tells of each event of the trace whether it lies on such a thread.
std::vector<bool> events_in_background(const trace::TraceFile& trace);

}  // namespace stria::tool
