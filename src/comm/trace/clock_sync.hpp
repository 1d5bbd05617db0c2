// Compares the clocks of all ranks.
//
// Problem: the spans of different nodes are measured by different clocks.
// Method: along a binomial tree, each rank exchanges a few small messages with its parent. The
// parent reads its clock between the sending and the arrival of each, which bounds the offset from
// both sides. The middle of the interval that all bounds leave is at least as good as that of the
// shortest round trip. The reader of a trace adds the offsets along the tree
// (trace/format/clocks.hpp).
// Cost: log2(ranks) steps of 40 round trips.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/comm.hpp"
#include "trace/format/part.hpp"

namespace stria {

/// Compares this rank's clock with that of its parent in the tree; empty on rank 0. `now_ns` reads
/// this rank's clock. Where the parent is on the same node and the difference is within the error
/// of the measurement, they count as one clock. Collective: yes.
std::vector<trace::ClockSample> compare_clocks(Comm& comm, const std::function<int64_t()>& now_ns);

}  // namespace stria
