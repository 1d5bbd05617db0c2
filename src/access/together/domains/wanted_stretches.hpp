// The stretches of a window in which its contributors have bytes.
//
// Problem: contributors of one window may lie megabytes apart. Reading or walking everything
// between them pays for bytes that no rank wants.
// Method: the contributors' ranges are joined where the gap between them is short. A range of many
// pieces that lie far from each other is walked first.
// Cost: O(ranges log ranges), and O(pieces) for ranges that are mostly gaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/together/domains/share.hpp"

namespace stria::access {

/// Stretches, by increasing offset, that hold all bytes of the shares in window `number`. No
/// stretch has a gap of more than `most_gap_bytes`, except between the pieces of dense ranges.
std::vector<ByteRange> stretches_of(size_t number, std::span<const Share> shares, int64_t most_gap_bytes);

}  // namespace stria::access
