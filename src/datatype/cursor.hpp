// Walks the pieces of a Datatype, from any position of the packed stream or of the offsets.
//
// Invariant: piece() is the rest of the piece that holds stream_position(). Cost: seek O(depth * log(children)), advance amortised O(1)
// for regular types; memory O(depth).
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"
#include "stria/datatype.hpp"

namespace stria {

class Cursor {
 public:
  /// Walks `count` repetitions of `type`, one extent apart, the first at `displacement_bytes`. Starts at stream position 0.
  explicit Cursor(Datatype type, int64_t displacement_bytes = 0, int64_t count = 1);

  /// Total bytes of the stream.
  int64_t stream_bytes() const;
  int64_t stream_position() const;
  bool done() const;

  /// Moves to the stream position, clamped to [0, stream_bytes()].
  void seek(int64_t stream_position);
  /// Moves to the first byte at or after file offset `offset_bytes`. \pre the type is_sorted() and, for count > 1, so are its repetitions
  void seek_offset(int64_t offset_bytes);

  /// The offsets of the rest of the current piece. \pre !done()
  ByteRange piece() const;
  /// Moves on by `bytes` of the stream, over any number of pieces.
  void advance(int64_t bytes);

  // (private state is the implementer's)
};

/// The part of the stream of `type` (placed at `displacement_bytes`) whose bytes lie within `window`. O(depth log). \pre type.is_sorted()
ByteRange cut(const Datatype& type, int64_t displacement_bytes, ByteRange window);

}  // namespace stria
