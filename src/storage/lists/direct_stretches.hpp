// Divides a list of writes between a handle past the page cache and the usual one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "storage/driver.hpp"

namespace stria::storage {

/// Whole units of `unit_bytes` of the file that are aligned in memory too go to `direct`. What is
/// left before and behind them, and what isn't aligned, goes to `cached`.
inline void divide_direct(std::span<const WriteSegment> list, int64_t unit_bytes, std::vector<WriteSegment>& direct,
                          std::vector<WriteSegment>& cached) {
  STRIA_CHECK(unit_bytes > 0, unit_bytes);
  for (const WriteSegment& segment : list) {
    const ByteRange whole{segment.offset, segment.offset + segment.bytes};
    const ByteRange middle{align_up(whole.begin, unit_bytes), align_down(whole.end, unit_bytes)};
    const std::byte* const data = segment.data + (middle.begin - whole.begin);
    if (middle.empty() || reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(unit_bytes) != 0) {
      cached.push_back(segment);
      continue;
    }
    direct.push_back({middle.begin, data, middle.size()});
    if (whole.begin < middle.begin) {
      cached.push_back({whole.begin, segment.data, middle.begin - whole.begin});
    }
    if (middle.end < whole.end) {
      cached.push_back({middle.end, data + middle.size(), whole.end - middle.end});
    }
  }
}

}  // namespace stria::storage
