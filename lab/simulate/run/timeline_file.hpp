// The timeline of a simulated run as a trace file, which `stria trace` shows like any other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/run.hpp"

namespace stria::simulate {

/// Returns the bytes of the file (docs/formats/trace.md). `command` is what its pages call the run.
std::vector<std::byte> trace_file_of(const Machine& machine, const RunOptions& options, const RunOutcome& outcome,
                                     const std::string& command);

}  // namespace stria::simulate
