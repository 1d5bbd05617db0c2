// The pieces of a stream that lie in a stretch of the file: where they begin, and how to walk
// and copy them.
//
// Nothing is listed: a cursor finds any position in O(depth log) and gives rows of equal pieces.
#pragma once

#include <algorithm>
#include <cstddef>

#include "access/request/request.hpp"
#include "base/check.hpp"
#include "datatype/cursor.hpp"

namespace stria::access {

/// Returns the file offsets between a stream's first byte and its last; empty for a stream of no
/// bytes. O(depth log).
ByteRange hull_of(const Stream& stream);

/// Returns the same for all streams of a lane.
ByteRange hull_of(const Lane& lane);

/// Tells whether the stream's pieces in the file are shorter than `bytes` on average. O(1).
bool has_pieces_below(const Stream& stream, int64_t bytes);

/// Returns how many bytes of the packed stream lie before the file offset. O(depth log).
int64_t position_of(const Stream& stream, int64_t file_offset);

/// A stretch of a stream that lies in a window: where in the stream, and its bytes.
struct Overlap {
  const Stream* stream = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Returns the file offsets between an overlap's first byte and its last. O(depth log).
ByteRange hull_of(const Overlap& overlap);

/// Returns the bytes [begin, end) of a stream as a stream of their own whose pieces are listed.
/// Cost: O(pieces).
Result<Stream> part_of(const Stream& stream, int64_t begin, int64_t end);

/// Calls `visit(piece, packed_offset)` for each file piece of an overlap; packed_offset counts from
/// the overlap's first byte.
template <typename Visit>
void for_each_piece(const Overlap& overlap, Visit&& visit);

/// Calls `visit(row, packed_offset)` for the rows of equal pieces of an overlap. A piece that the
/// overlap cuts comes by itself.
template <typename Visit>
void for_each_row(const Overlap& overlap, Visit&& visit);

/// Copies the packed bytes of an overlap from a window of the file, or into it. `window` holds the
/// file from offset `window_begin` on; `packed` is the place of the overlap's first byte.
void gather_pieces(const Overlap& overlap, const std::byte* window, int64_t window_begin, std::byte* packed);
void scatter_pieces(const Overlap& overlap, const std::byte* packed, std::byte* window, int64_t window_begin);

}  // namespace stria::access

template <typename Visit>
void stria::access::for_each_piece(const Overlap& overlap, Visit&& visit) {
  for_each_row(overlap, [&](const PieceRow& row, int64_t packed_offset) {
    for (int64_t i = 0; i < row.count; ++i) {
      const int64_t begin = row.begin + i * row.stride;
      visit(ByteRange{begin, begin + row.piece_bytes}, packed_offset + i * row.piece_bytes);
    }
  });
}

template <typename Visit>
void stria::access::for_each_row(const Overlap& overlap, Visit&& visit) {
  STRIA_ASSERT(0 <= overlap.begin && overlap.begin <= overlap.end && overlap.end <= overlap.stream->size(), overlap.begin,
               overlap.end, overlap.stream->size());
  Cursor cursor(overlap.stream->file_type, overlap.stream->displacement);
  cursor.seek(overlap.stream->skip_bytes + overlap.begin);
  for (int64_t at = overlap.begin; at < overlap.end;) {
    PieceRow row = cursor.row();
    const int64_t left_bytes = overlap.end - at;
    if (row.piece_bytes > left_bytes) {
      visit(PieceRow{row.begin, left_bytes, row.stride, 1}, at - overlap.begin);
      return;
    }
    row.count = row.count == 1 ? 1 : std::min(row.count, left_bytes / row.piece_bytes);
    visit(row, at - overlap.begin);
    at += row.count * row.piece_bytes;
    cursor.advance_row(row.count);
  }
}
