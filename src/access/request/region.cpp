#include "access/request/region.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

bool JoinRule::joins(int64_t gap_bytes, int64_t piece_bytes) const {
  switch (kind) {
    case Kind::kNever:
      return false;
    case Kind::kTouching:
      return gap_bytes == 0;
    case Kind::kCheap:
      if (gap_bytes == 0) {
        return true;
      }
      return gap_bytes < request_bytes && (write ? piece_bytes + 2 * gap_bytes : gap_bytes) <= request_bytes;
    case Kind::kAlways:
      return gap_bytes >= 0;
  }
  return false;
}

RegionWalker::RegionWalker(const Stream& stream, int64_t begin, int64_t end, const JoinRule& rule, const BatchLimits& limits)
    : cursor_(stream.file_type, stream.displacement),
      skip_bytes_(stream.skip_bytes),
      end_(end),
      rule_(rule),
      limits_(limits),
      position_(begin) {
  STRIA_ASSERT(limits.packed_bytes > 0 && limits.window_bytes > 0 && limits.regions > 0, limits.packed_bytes,
               limits.window_bytes);
  STRIA_ASSERT(0 <= begin && begin <= end && end <= stream.size(), begin, end, stream.size());
  cursor_.seek(skip_bytes_ + begin);
}

bool RegionWalker::next(std::vector<Region>& regions) {
  regions.clear();
  packed_left_ = limits_.packed_bytes;
  window_left_ = limits_.window_bytes;
  while (position_ < end_ && packed_left_ > 0 && add(regions)) {
  }
  STRIA_ASSERT(std::adjacent_find(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
                 return a.file.end > b.file.begin || a.end != b.begin;
               }) == regions.end());
  return !regions.empty();
}

bool RegionWalker::add(std::vector<Region>& regions) {
  const PieceRow row = cursor_.row();
  int64_t bytes = std::min({row.piece_bytes, end_ - position_, packed_left_});
  ByteRange piece{row.begin, row.begin + bytes};
  if (regions.empty() || !extend(regions.back(), piece)) {
    if (regions.size() == limits_.regions || needs_new_window(regions, piece)) {
      return false;
    }
    if (!regions.empty() && regions.back().has_holes()) {
      window_left_ -= regions.back().file.size();
    }
    regions.push_back({.file = piece, .begin = position_, .end = position_ + bytes, .pieces = 1});
  }
  position_ += bytes;
  packed_left_ -= bytes;
  cursor_.advance(bytes);
  if (bytes == row.piece_bytes && row.count > 1) {
    extend_by_row(regions.back(), row);
  }
  return true;
}

// Neighbours that lack room only for their gap wait for the next batch, whose window is empty.
bool RegionWalker::needs_new_window(std::span<const Region> regions, ByteRange piece) const {
  if (regions.empty() || (window_left_ == limits_.window_bytes && !regions.back().has_holes())) {
    return false;
  }
  const int64_t gap = piece.begin - regions.back().file.end;
  return gap > 0 && rule_.joins(gap, piece.size());
}

bool RegionWalker::extend(Region& region, ByteRange piece) {
  int64_t gap = piece.begin - region.file.end;
  bool stays_whole = gap == 0 && !region.has_holes();
  if (!rule_.joins(gap, piece.size()) || gap < 0 || (!stays_whole && piece.end - region.file.begin > window_left_)) {
    return false;
  }
  region.file.end = piece.end;
  region.end += piece.size();
  ++region.pieces;
  return true;
}

// Adds as many further pieces of the row at once as the rule and the room allow. The first one is
// in the region already.
void RegionWalker::extend_by_row(Region& region, const PieceRow& row) {
  int64_t gap = row.stride - row.piece_bytes;
  if (gap <= 0 || !rule_.joins(gap, row.piece_bytes)) {
    return;
  }
  int64_t most = std::min({row.count - 1, (end_ - position_) / row.piece_bytes, packed_left_ / row.piece_bytes,
                           (window_left_ - region.file.size()) / row.stride});
  if (most <= 0) {
    return;
  }
  region.file.end += most * row.stride;
  region.end += most * row.piece_bytes;
  region.pieces += most;
  position_ += most * row.piece_bytes;
  packed_left_ -= most * row.piece_bytes;
  cursor_.advance_row(most);
}

}  // namespace stria::access
