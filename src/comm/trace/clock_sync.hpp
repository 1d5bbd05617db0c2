// Compares the clocks of all ranks.
//
// Problem: spans of different nodes are told by different clocks. Method: along a binomial tree each rank exchanges a few small
// messages with its parent. The parent read its clock between the sending and the arrival of each, which bounds the offset from
// both sides; the middle of what all bounds leave is at least as good as that of the shortest round trip. The reader composes
// the offsets (trace/clocks.hpp). Cost: log2(ranks) steps of 40 round trips.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/comm.hpp"
#include "trace/part.hpp"

namespace stria {

/// This rank's clock against that of its parent in the tree; empty on rank 0. `now_ns` reads this rank's clock. Where a parent
/// of the same node shows a difference within the error of the measurement, the clocks are one. Collective: yes.
std::vector<trace::ClockSample> compare_clocks(Comm& comm, const std::function<int64_t()>& now_ns);

}  // namespace stria
