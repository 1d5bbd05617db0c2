// The stretches of a window that its contributors have bytes in.
//
// Problem: contributors of one window may lie megabytes apart; whoever reads, or looks through, all
// that lies between pays for what nobody asked for.
// Method: the contributors' ranges are joined where the gap between them is short; a range of many
// pieces far from each other is walked first.
// Cost: O(ranges log ranges), and O(pieces) of ranges that are mostly gaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/together/aggregation.hpp"

namespace stria::access {

/// Stretches, by increasing offset, that hold all bytes which the shares have in window
/// `number`, with no gap of more than `most_gap_bytes` in any of them but what lies between the
/// pieces of dense ranges.
std::vector<ByteRange> stretches_of(size_t number, std::span<const Aggregation::Share> shares, int64_t most_gap_bytes);

}  // namespace stria::access
