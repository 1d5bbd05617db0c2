#include "container/image.hpp"

#include "base/check.hpp"

namespace stria::container {

std::span<std::byte> SparseImage::at(ByteRange range) {
  if (range.end <= static_cast<int64_t>(switch_over.size())) {
    return std::span(switch_over).subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()));
  }
  for (Extent& extent : extents) {
    const int64_t begin = range.begin - extent.offset;
    if (begin >= 0 && begin + range.size() <= static_cast<int64_t>(extent.bytes.size())) {
      return std::span(extent.bytes).subspan(static_cast<size_t>(begin), static_cast<size_t>(range.size()));
    }
  }
  STRIA_CHECK(range.empty(), range.begin, range.end);
  return {};
}

}  // namespace stria::container
