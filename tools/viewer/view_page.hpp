// The timeline page of a trace.
//
// Problem: a million spans must open from disk in seconds, without a server. Method: each field is a column of the narrowest
// type that holds its values, in base64 inside the page; names and counters are JSON; the page's modules turn columns into
// typed arrays without looking at single values. Cost: about 45 bytes a span in memory, 60 in the page.
#pragma once

#include <string>
#include <vector>

#include "trace/trace_file.hpp"

namespace stria::tool {

/// One HTML page that needs nothing else: docs/tracing.md says what it shows. Spans are sorted by rank and begin.
std::string view_page(const trace::TraceFile& trace);

/// What a reader must know before believing what a trace shows: records that were dropped, ranks that never ended, parts that
/// could not be used. Sentences; none when all is there.
std::vector<std::string> trace_notices(const trace::TraceFile& trace);

}  // namespace stria::tool
