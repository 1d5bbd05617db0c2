// Divides rows of pieces of an object into parts that are moved at once: long runs, or short pieces
// that follow each other within one block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/piece_row.hpp"
#include "server/objects/blocks/block_sums.hpp"

namespace stria::server {

/// A place with the memory that belongs to it.
struct Run {
  ByteRange range;
  std::byte* data = nullptr;
};

/// Pieces with the memory that belongs to them, where they lie packed.
struct Pieces {
  PieceRow row;
  std::byte* data = nullptr;
};

/// Returns the least range that holds all pieces.
inline ByteRange hull_of(std::span<const Pieces> pieces) {
  STRIA_ASSERT(!pieces.empty());
  ByteRange hull{pieces.front().row.begin, pieces.front().row.end()};
  for (const Pieces& each : pieces) {
    hull = {std::min(hull.begin, each.row.begin), std::max(hull.end, each.row.end())};
  }
  return hull;
}

/// Whether the pieces are of one block.
inline bool lie_in_one_block(std::span<const Pieces> pieces) {
  const ByteRange hull = hull_of(pieces);
  return hull.begin >= 0 && !hull.empty() && hull.begin / kBlockBytes == (hull.end - 1) / kBlockBytes;
}

/// Either a run, or pieces of one block.
struct Part {
  Run run;
  std::vector<Pieces> pieces;  ///< empty: it is a run

  int64_t block() const {
    STRIA_ASSERT(!pieces.empty());
    return pieces.front().row.begin / kBlockBytes;
  }
};

class Parts {
 public:
  /// The data lie packed at `data`. Pieces of a row ascend without overlap.
  Parts(std::span<const PieceRow> rows, std::byte* data) : rows_(rows), data_(data) { enter(0); }

  /// Returns false when no part is left.
  bool next(Part& part) {
    part.pieces.clear();
    if (row_.count == 0) {
      return false;
    }
    if (row_.piece_bytes - used_ >= kLeastRun) {
      part.run = {{here(), row_.begin + row_.piece_bytes}, data_};
      take(part.run.range.size());
      return true;
    }
    const int64_t block = here() / kBlockBytes;
    while (row_.count > 0 && here() / kBlockBytes == block) {
      part.pieces.push_back({within((block + 1) * kBlockBytes), data_});
      take(part.pieces.back().row.bytes());
    }
    return true;
  }

 private:
  static constexpr int64_t kLeastRun = 2 * kBlockBytes;

  int64_t here() const { return row_.begin + used_; }
  /// Returns the row's pieces that end at `end` or before, or the part of one that does.
  PieceRow within(int64_t end) const {
    const int64_t room = end - row_.begin - row_.piece_bytes;
    if (used_ > 0 || room < 0) {
      return {here(), std::min(row_.begin + row_.piece_bytes, end) - here(), 0, 1};
    }
    return {row_.begin, row_.piece_bytes, row_.stride, row_.count == 1 ? 1 : std::min(row_.count, 1 + room / row_.stride)};
  }
  /// Takes whole pieces, or a part of one.
  void take(int64_t bytes) {
    STRIA_ASSERT(bytes > 0 && used_ + bytes <= row_.count * row_.piece_bytes, bytes, used_, row_.count, row_.piece_bytes);
    data_ += bytes;
    used_ += bytes;
    if (used_ >= row_.piece_bytes) {
      const int64_t pieces = used_ / row_.piece_bytes;
      row_.begin += pieces * row_.stride;
      row_.count -= pieces;
      used_ = 0;
    }
    if (row_.count == 0) {
      enter(index_ + 1);
    }
  }
  void enter(size_t index) {
    index_ = index;
    row_ = index < rows_.size() ? rows_[index] : PieceRow();
  }

  std::span<const PieceRow> rows_;
  std::byte* data_;
  size_t index_ = 0;
  PieceRow row_;      // what is left of the row at index_
  int64_t used_ = 0;  // bytes of its first piece
};

}  // namespace stria::server
