// Ranges in any order, joined where they meet.
#pragma once

#include <algorithm>
#include <vector>

#include "base/byte_range.hpp"

namespace stria {

/// Returns the same bytes in ranges that lie apart, in order. Empty ranges are dropped.
inline std::vector<ByteRange> united(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> joined;
  for (const ByteRange& range : ranges) {
    if (range.empty()) {
      continue;
    }
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

}  // namespace stria
