// Which span is around which.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace_file.hpp"

namespace stria::tool {

/// For each event the index of the one that its parent's id names on its rank, or -1. Cost: a sort of each rank's ids.
std::vector<int64_t> parent_indices(const std::vector<trace::Event>& events);

}  // namespace stria::tool
