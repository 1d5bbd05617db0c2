#include "container/hdf5/copy/overlaid_file.hpp"

#include <algorithm>

#include "base/byte_range.hpp"

namespace stria::container::h5 {

void OverlaidFile::cover(const storage::ReadSegment& segment) const {
  const ByteRange wanted{segment.offset, segment.offset + segment.bytes};
  auto piece = pieces_.upper_bound(wanted.begin);
  piece = piece == pieces_.begin() ? piece : std::prev(piece);
  for (; piece != pieces_.end() && piece->first < wanted.end; ++piece) {
    const auto& [offset, bytes] = *piece;
    const ByteRange met = intersect(wanted, {offset, offset + static_cast<int64_t>(bytes.size())});
    if (!met.empty()) {
      std::copy_n(bytes.data() + (met.begin - offset), met.size(), segment.data + (met.begin - wanted.begin));
    }
  }
}

Result<int64_t> OverlaidFile::read(std::span<const storage::ReadSegment> segments) {
  int64_t total = 0;
  for (const storage::ReadSegment& segment : segments) {
    STRIA_ASSIGN_OR_RETURN(const int64_t read, file_.read({&segment, 1}));
    std::fill(segment.data + read, segment.data + segment.bytes, std::byte{0});
    cover(segment);
    total += segment.bytes;
  }
  return total;
}

}  // namespace stria::container::h5
