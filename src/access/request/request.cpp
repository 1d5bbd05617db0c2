#include "access/request/request.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

int64_t total_bytes(std::span<const Lane> lanes) {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += stream.size();
    }
  }
  return sum;
}

int64_t piece_count(std::span<const Lane> lanes) {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += std::min(stream.file_type.piece_count(), stream.size());
    }
  }
  return sum;
}

namespace {

// Returns the bytes of the list that lie before `end`.
int64_t bytes_before(std::span<const storage::ReadSegment> segments, int64_t end) {
  int64_t sum = 0;
  for (const storage::ReadSegment& segment : segments) {
    sum += std::clamp<int64_t>(end - segment.offset, 0, segment.bytes);
  }
  return sum;
}

}  // namespace

// Segments may overlap, so a walk in file order would be wrong. But the number of bytes before an
// offset grows with the offset. Where the end may lie anywhere in a gap, it is put after the gap,
// because other requests may have found bytes there.
int64_t file_end(std::span<const storage::ReadSegment> segments, int64_t read_bytes) {
  STRIA_CHECK(read_bytes >= 0, read_bytes);
  int64_t high = 0;
  for (const storage::ReadSegment& segment : segments) {
    high = std::max(high, segment.offset + segment.bytes);
  }
  if (bytes_before(segments, high) <= read_bytes) {
    return kNoEnd;
  }
  int64_t low = 0;  // bytes_before(low) <= read_bytes < bytes_before(high)
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (bytes_before(segments, middle) <= read_bytes ? low : high) = middle;
  }
  return low;
}

}  // namespace stria::access
