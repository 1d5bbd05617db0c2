// The timeline page of a trace.
//
// Problem: a million spans must open from disk in seconds, without a server.
// Method: each field is a column of the narrowest type that holds its values, as base64 inside the
// page. Names and counters are JSON. The page's modules turn columns into typed arrays without
// looking at single values.
// Cost: about 45 bytes per span in memory, and 60 in the page.
#pragma once

#include <string>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Returns one HTML page that needs nothing else: docs/tracing.md says what it shows. Spans are
/// sorted by rank and begin.
std::string view_page(const trace::TraceFile& trace);

/// Sentences on what makes a trace incomplete: records that were dropped, ranks that never ended,
/// parts that could not be used. Empty when nothing is missing.
std::vector<std::string> trace_notices(const trace::TraceFile& trace);

}  // namespace stria::tool
