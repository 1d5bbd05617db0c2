// The file description that a rank sends to an aggregator: for every lane its streams' file types, never a list of pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "access/file_domain.hpp"
#include "access/request.hpp"
#include "datatype/cursor.hpp"

namespace stria::access {

/// The streams of one lane, without what only their owner needs.
struct LaneDescription {
  /// \pre the streams come by increasing first offset
  LaneDescription(int number, std::vector<Stream> all);

  int lane;
  std::vector<Stream> streams;
  std::vector<ByteRange> hulls;  ///< of the streams
  std::vector<int64_t> reach;    ///< the highest offset after any byte of the streams up to here
};

/// The file offsets between a stream's first byte and its last; empty for a stream of no bytes. O(depth log).
ByteRange hull_of(const Stream& stream);

/// Whether the stream's pieces in the file are shorter than `bytes` on average. O(1).
bool has_pieces_below(const Stream& stream, int64_t bytes);

/// How many bytes of the packed stream lie before the file offset. O(depth log).
int64_t position_of(const Stream& stream, int64_t file_offset);

/// Appends the streams of the named lanes to a message; equal file types are sent once.
void encode_description(std::span<const Lane> lanes, std::span<const int> chosen, std::vector<std::byte>& message);

/// Reads a message of encode_description. kFormat when it isn't one. `lane_count` bounds the lane numbers.
Result<std::vector<LaneDescription>> decode_description(std::span<const std::byte> message, int lane_count);

/// A stretch of a stream that lies in a window: where in the stream, and its bytes.
struct Overlap {
  const Stream* stream = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// The bytes [begin, end) of a stream as a stream of their own whose pieces are listed. Cost: O(pieces).
Result<Stream> part_of(const Stream& stream, int64_t begin, int64_t end);

/// How many entries the lists in the file types of these streams have: what a description holds besides some numbers a stream.
int64_t list_entries(const LaneDescription& lane);

/// Appends the parts of the lane's streams within `window`, in the order of the streams. Cost: O(log streams + streams near the
/// window).
void overlaps(const LaneDescription& lane, ByteRange window, std::vector<Overlap>& out);

/// Appends, for every window, its number and the overlaps of the description with it. Returns their bytes.
int64_t overlaps_in(std::span<const LaneDescription> description, std::span<const Window> windows,
                    std::vector<std::pair<size_t, Overlap>>& parts);

/// Calls `visit(piece, packed_offset)` for each file piece of an overlap; packed_offset counts from the overlap's first byte.
template <typename Visit>
void for_each_piece(const Overlap& overlap, Visit&& visit);

/// Calls `visit(row, packed_offset)` for the rows of equal pieces of an overlap; a piece that the overlap cuts comes alone.
template <typename Visit>
void for_each_row(const Overlap& overlap, Visit&& visit);

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
