// Finds the span around each span.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Returns, for each event, the index of its parent: the event on its rank with the parent's id, or
/// -1.
/// Cost: a sort of each rank's ids.
std::vector<int64_t> parent_indices(const std::vector<trace::Event>& events);

}  // namespace stria::tool
