#include "access/together/domains/share.hpp"

namespace stria::access {

void scatter_to_windows(const Share& share, const std::byte* packed, std::byte* buffer) {
  for (const auto& [w, overlap] : share.parts) {
    const Window& window = share.windows[w];
    scatter_pieces(*overlap.stream, overlap.begin, overlap.end, packed, buffer + window.buffer_offset, window.file.begin);
    packed += overlap.end - overlap.begin;
  }
}

void gather_from_windows(const Share& share, const std::byte* buffer, std::byte* packed) {
  for (const auto& [w, overlap] : share.parts) {
    const Window& window = share.windows[w];
    gather_pieces(*overlap.stream, overlap.begin, overlap.end, buffer + window.buffer_offset, window.file.begin, packed);
    packed += overlap.end - overlap.begin;
  }
}

}  // namespace stria::access
