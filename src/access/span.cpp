#include "access/span.hpp"

#include <algorithm>

#include "access/description.hpp"
#include "datatype/pack_kernels.hpp"

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

SpanWalker::SpanWalker(const Stream& stream, int64_t begin, int64_t end, const JoinRule& rule, const BatchLimits& limits)
    : cursor_(stream.file_type, stream.displacement),
      skip_bytes_(stream.skip_bytes),
      end_(end),
      rule_(rule),
      limits_(limits),
      position_(begin) {
  cursor_.seek(skip_bytes_ + begin);
}

bool SpanWalker::next(std::vector<Span>& spans) {
  spans.clear();
  packed_left_ = limits_.packed_bytes;
  window_left_ = limits_.window_bytes;
  while (position_ < end_ && packed_left_ > 0 && add(spans)) {
  }
  return !spans.empty();
}

bool SpanWalker::add(std::vector<Span>& spans) {
  const PieceRow row = cursor_.row();
  int64_t bytes = std::min({row.piece_bytes, end_ - position_, packed_left_});
  ByteRange piece{row.begin, row.begin + bytes};
  if (spans.empty() || !extend(spans.back(), piece)) {
    if (spans.size() == limits_.spans || needs_new_window(spans, piece)) {
      return false;
    }
    if (!spans.empty() && spans.back().has_holes()) {
      window_left_ -= spans.back().file.size();
    }
    spans.push_back({piece, position_, position_ + bytes, 1});
  }
  position_ += bytes;
  packed_left_ -= bytes;
  cursor_.advance(bytes);
  if (bytes == row.piece_bytes && row.count > 1) {
    extend_by_row(spans.back(), row);
  }
  return true;
}

// Neighbours that only lack room for their gap wait for the next batch, whose window is empty.
bool SpanWalker::needs_new_window(std::span<const Span> spans, ByteRange piece) const {
  if (spans.empty() || (window_left_ == limits_.window_bytes && !spans.back().has_holes())) {
    return false;
  }
  const int64_t gap = piece.begin - spans.back().file.end;
  return gap > 0 && rule_.joins(gap, piece.size());
}

bool SpanWalker::extend(Span& span, ByteRange piece) {
  int64_t gap = piece.begin - span.file.end;
  bool stays_whole = gap == 0 && !span.has_holes();
  if (!rule_.joins(gap, piece.size()) || gap < 0 || (!stays_whole && piece.end - span.file.begin > window_left_)) {
    return false;
  }
  span.file.end = piece.end;
  span.end += piece.size();
  ++span.pieces;
  return true;
}

// As many further pieces of the row at once as the rule and the room allow; the first one is in the span already.
void SpanWalker::extend_by_row(Span& span, const PieceRow& row) {
  int64_t gap = row.stride - row.piece_bytes;
  if (gap <= 0 || !rule_.joins(gap, row.piece_bytes)) {
    return;
  }
  int64_t most = std::min({row.count - 1, (end_ - position_) / row.piece_bytes, packed_left_ / row.piece_bytes,
                           (window_left_ - span.file.size()) / row.stride});
  if (most <= 0) {
    return;
  }
  span.file.end += most * row.stride;
  span.end += most * row.piece_bytes;
  span.pieces += most;
  position_ += most * row.piece_bytes;
  packed_left_ -= most * row.piece_bytes;
  cursor_.advance_row(most);
}

void gather_pieces(const Stream& stream, int64_t begin, int64_t end, const std::byte* window, int64_t window_begin,
                   std::byte* packed) {
  for_each_row({&stream, begin, end}, [&](const PieceRow& row, int64_t at) {
    pack::gather_pieces(window + (row.begin - window_begin), row.stride, row.piece_bytes, row.count, packed + at);
  });
}

void scatter_pieces(const Stream& stream, int64_t begin, int64_t end, const std::byte* packed, std::byte* window,
                    int64_t window_begin) {
  for_each_row({&stream, begin, end}, [&](const PieceRow& row, int64_t at) {
    pack::scatter_pieces(window + (row.begin - window_begin), row.stride, row.piece_bytes, row.count, packed + at);
  });
}

}  // namespace stria::access
