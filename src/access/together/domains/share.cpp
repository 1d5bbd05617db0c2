#include "access/together/domains/share.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

namespace {

// The other side has packed as many bytes, and none of them goes beyond its window.
[[maybe_unused]] bool fits(const Share& share) {
  int64_t bytes = 0;
  for (const auto& [w, overlap] : share.parts) {
    bytes += overlap.end - overlap.begin;
    const ByteRange hull = hull_of(overlap);
    if (w >= share.windows.size() || intersect(hull, share.windows[w].file) != hull) {
      return false;
    }
  }
  return bytes <= share.bytes;
}

}  // namespace

void scatter_to_windows(const Share& share, const std::byte* packed, std::byte* buffer) {
  STRIA_ASSERT(fits(share), share.rank, share.bytes, share.parts.size());
  for (const auto& [w, overlap] : share.parts) {
    const Window& window = share.windows[w];
    scatter_pieces(overlap, packed, buffer + window.buffer_offset, window.file.begin);
    packed += overlap.end - overlap.begin;
  }
}

void gather_from_windows(const Share& share, const std::byte* buffer, std::byte* packed) {
  STRIA_ASSERT(fits(share), share.rank, share.bytes, share.parts.size());
  for (const auto& [w, overlap] : share.parts) {
    const Window& window = share.windows[w];
    gather_pieces(overlap, buffer + window.buffer_offset, window.file.begin, packed);
    packed += overlap.end - overlap.begin;
  }
}

}  // namespace stria::access
