// Describes what the trace says about how a file's transfers were carried out.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "access/request/hints.hpp"
#include "trace/counters/file_counters.hpp"

namespace stria::access {

/// Counts a transfer of a file by its method, and notes whether `rank` was an aggregator.
void count_transfer(trace::FileCounters& counters, Method method, std::span<const int> aggregators, int rank);

/// States the method of the file's latest transfer, the reason for it, and which ranks aggregated.
void state_method(uint16_t trace_id, Method method, const std::string& reason, std::span<const int> aggregators);

/// States the hints in effect.
void state_hints(uint16_t trace_id, const ResolvedHints& hints);

}  // namespace stria::access
