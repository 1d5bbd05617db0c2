// Walks the pieces of a Datatype, from any position of the packed stream or from any offset.
//
// Invariant: piece() is the rest of the piece that holds stream_position().
// Method: a stack holds the tree's levels above the innermost loop; the loop itself is
// three numbers.
// Cost: seek O(depth * log(children)); advance amortised O(1) for regular types; memory O(depth).
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/piece_row.hpp"
#include "stria/datatype.hpp"

namespace stria {

class Cursor {
 public:
  /// Walks `count` repetitions of `type`, one extent apart; the first is at `displacement_bytes`.
  /// Starts at stream position 0. \pre |displacement_bytes| < 2^62, and all repetitions together,
  /// not displaced, would make a valid Datatype.
  explicit Cursor(Datatype type, int64_t displacement_bytes = 0, int64_t count = 1);

  /// Returns the total bytes of the stream.
  int64_t stream_bytes() const { return stream_bytes_; }
  int64_t stream_position() const { return position_; }
  bool done() const { return position_ == stream_bytes_; }

  /// Moves to the stream position, clamped to [0, stream_bytes()].
  void seek(int64_t stream_position);
  /// Moves to the first byte at or after offset `offset_bytes`. \pre the type is_sorted(), and so
  /// are its repetitions when count > 1
  void seek_offset(int64_t offset_bytes);

  /// Returns the offsets of the rest of the current piece. \pre !done()
  ByteRange piece() const {
    STRIA_ASSERT(!done());
    return {begin_, end_};
  }
  /// Returns the pieces from here to the end of the innermost loop; only one when the cursor is
  /// within a piece. \pre !done()
  PieceRow row() const {
    STRIA_ASSERT(!done());
    const bool is_cut = end_ - begin_ != piece_bytes_;
    return {begin_, end_ - begin_, stride_, is_cut ? 1 : left_ + 1};
  }

  /// Returns the number of rows like row(), all whole and at equal distances, that follow each
  /// other from here. 1 when the cursor is within this row, or the tree has nothing regular above
  /// it. \pre !done()
  int64_t row_count() const;
  /// Returns the distance of those rows. \pre row_count() > 1
  int64_t row_stride() const;
  /// Moves on by `count` of those rows. \pre 0 < count <= row_count()
  void advance_rows(int64_t count);

  /// Moves on by `bytes` of the stream, over any number of pieces, to the end at most.
  void advance(int64_t bytes) {
    if (bytes < end_ - begin_) {
      begin_ += bytes;
      position_ += bytes;
    } else if (bytes == end_ - begin_) {
      next_piece();
    } else {
      advance_far(bytes);
    }
  }
  /// Moves on by the first `count` pieces of row(). \pre 0 < count <= row().count
  void advance_row(int64_t count) {
    STRIA_ASSERT(0 < count && count <= row().count, count);
    const int64_t further = count - 1;
    begin_ += further * stride_;
    end_ += further * stride_;
    left_ -= further;
    position_ += further * piece_bytes_;
    next_piece();
  }

 private:
  /// A node above the innermost loop, the entry of it in which the cursor is, and the offset of the
  /// node's first byte.
  struct Level {
    const datatype::Node* node;
    int64_t index;
    int64_t base;
  };

  void next_piece() {
    position_ += end_ - begin_;
    if (left_ > 0) {
      --left_;
      begin_ = end_ - piece_bytes_ + stride_;
      end_ = begin_ + piece_bytes_;
    } else {
      next_row();
    }
  }
  void next_row();
  void advance_far(int64_t bytes);
  /// Enters `node`, the present entry of the innermost level, at its first piece.
  void enter_first(const datatype::Node* node, int64_t base);
  /// Enters `node` at byte `position` of its stream.
  void enter_at(const datatype::Node* node, int64_t base, int64_t position);
  void set_row(int64_t begin, int64_t piece_bytes, int64_t stride, int64_t left);

  std::shared_ptr<const datatype::Node> root_;
  int64_t base_ = 0;  // offset of the stream's first byte
  int64_t stream_bytes_ = 0;
  int64_t position_ = 0;
  int64_t begin_ = 0;  // the rest of the current piece
  int64_t end_ = 0;
  int64_t piece_bytes_ = 0;  // size of a whole piece of the innermost loop
  int64_t stride_ = 0;
  int64_t left_ = 0;  // pieces of the innermost loop after the current one
  std::vector<Level> levels_;
};

/// Returns the part of the stream of `type`, placed at `displacement_bytes`, whose bytes lie within
/// `window`. Cost: O(depth * log(children)). \pre type.is_sorted()
ByteRange cut(const Datatype& type, int64_t displacement_bytes, ByteRange window);

}  // namespace stria
