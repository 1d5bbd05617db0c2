// The subcommands of `stria trace`. They run on one rank; others do nothing.
#pragma once

#include "command.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Adds the subcommands below to `stria trace`.
void add_trace_tools(Command group, Action& action);

void add_trace_stats(Command group, Action& action);
void add_trace_merge(Command group, Action& action);
void add_trace_export(Command group, Action& action);
void add_trace_import(Command group, Action& action);
void add_trace_diff(Command group, Action& action);

/// Reads a trace and warns of what is missing in it. Throws stria::Error. Collective: no; call it
/// within on_root().
trace::TraceFile read_trace(const std::string& path);

}  // namespace stria::tool
