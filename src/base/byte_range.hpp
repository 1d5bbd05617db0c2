// Half-open ranges of bytes: every layer describes places in a file or a stream by them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"

namespace stria {

/// The bytes at offsets [begin, end). Empty when end <= begin.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  bool contains(int64_t offset) const { return begin <= offset && offset < end; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Returns the bytes that are in both ranges.
inline ByteRange intersect(ByteRange a, ByteRange b) {
  return {std::max(a.begin, b.begin), std::max(std::max(a.begin, b.begin), std::min(a.end, b.end))};
}

/// Return `value` rounded down or up to a multiple of `unit`. \pre unit > 0, value >= 0
inline int64_t align_down(int64_t value, int64_t unit) {
  STRIA_ASSERT(unit > 0 && value >= 0, value, unit);
  return value - value % unit;
}
inline int64_t align_up(int64_t value, int64_t unit) {
  return align_down(value + unit - 1, unit);
}

}  // namespace stria
