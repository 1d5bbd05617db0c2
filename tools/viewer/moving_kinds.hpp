// Tells which kinds of spans move the bytes of files.
#pragma once

#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

enum class Moves { kNothing, kRead, kWrite };

/// Returns what the spans of each kind move. Only kinds of the lowest layer that recorded bytes
/// count, since two layers would count bytes twice.
std::vector<Moves> moving_kinds(const trace::TraceFile& trace);

/// Returns what spans of that name move, whatever their layer.
Moves moves_of(const std::string& name);

}  // namespace stria::tool
