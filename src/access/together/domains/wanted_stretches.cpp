#include "access/together/domains/wanted_stretches.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

namespace {

// Where one byte in so many, or more, of a range is wanted, a walk over its pieces doesn't pay.
constexpr int64_t kDensePart = 16;

// Appends a piece, or joins it with the one before.
void append(ByteRange piece, int64_t most_gap_bytes, std::vector<ByteRange>& ranges, size_t first) {
  if (ranges.size() > first && piece.begin - ranges.back().end <= most_gap_bytes) {
    ranges.back().end = std::max(ranges.back().end, piece.end);
  } else {
    ranges.push_back(piece);
  }
}

void append_stretches(const Overlap& overlap, int64_t most_gap_bytes, std::vector<ByteRange>& ranges) {
  const ByteRange hull = hull_of(overlap);
  if (hull.size() <= most_gap_bytes || hull.size() / kDensePart <= overlap.end - overlap.begin) {
    ranges.push_back(hull);
    return;
  }
  const size_t first = ranges.size();
  for_each_row(overlap, [&](const PieceRow& row, int64_t) {
    if (row.stride - row.piece_bytes <= most_gap_bytes) {
      append({row.begin, row.begin + (row.count - 1) * row.stride + row.piece_bytes}, most_gap_bytes, ranges, first);
      return;
    }
    for (int64_t i = 0; i < row.count; ++i) {
      append({row.begin + i * row.stride, row.begin + i * row.stride + row.piece_bytes}, most_gap_bytes, ranges, first);
    }
  });
}

}  // namespace

std::vector<ByteRange> stretches_of(size_t number, std::span<const Share> shares, int64_t most_gap_bytes) {
  STRIA_CHECK(most_gap_bytes >= 0, most_gap_bytes);
  std::vector<ByteRange> ranges;
  for (const Share& share : shares) {
    for (const auto& [window, overlap] : share.parts) {
      if (window == number && overlap.begin < overlap.end) {
        append_stretches(overlap, most_gap_bytes, ranges);
      }
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  std::vector<ByteRange> joined;
  for (const ByteRange range : ranges) {
    append(range, most_gap_bytes, joined, 0);
  }
  STRIA_ASSERT(std::adjacent_find(joined.begin(), joined.end(), [](ByteRange a, ByteRange b) { return b.begin <= a.end; }) ==
               joined.end());
  return joined;
}

}  // namespace stria::access
