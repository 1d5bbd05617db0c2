// Walks the rows of a part of a stream: pieces of memory that lie equally far apart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "datatype/cursor.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "stria/datatype.hpp"

namespace stria::pack {

class RowWalker {
 public:
  /// Pieces of a row that are moved at a time, so that long rows are prefetched like short ones.
  static constexpr int64_t kMostPieces = 32;

  /// Bytes [begin, end) of the type's stream. The type must outlive this.
  RowWalker(const Datatype& type, int64_t begin, int64_t end) : cursor_(type), left_bytes_(end - begin) { cursor_.seek(begin); }

  bool done() const { return left_bytes_ <= 0; }

  /// Returns the next row. A piece that the end of the part cuts is a row by itself. \pre !done()
  PieceRow next() {
    STRIA_ASSERT(!done());
    PieceRow row = cursor_.row();
    row.count = std::min(row.count, kMostPieces);
    if (row.count * row.piece_bytes > left_bytes_) {
      row.count = left_bytes_ / row.piece_bytes;
      if (row.count == 0) {
        row = {row.begin, left_bytes_, 0, 1};
        left_bytes_ = 0;
        return row;
      }
    }
    left_bytes_ -= row.count * row.piece_bytes;
    cursor_.advance_row(row.count);
    return row;
  }

  /// Returns the next rows of pieces of `piece_bytes`: as many as are alike, and none where next()
  /// must be used. \pre !done()
  Row next_rows(int64_t piece_bytes) {
    STRIA_ASSERT(!done());
    const PieceRow row = cursor_.row();
    const int64_t row_bytes = row.count * row.piece_bytes;
    if (row.piece_bytes != piece_bytes || row.count > kMostPieces || row_bytes > left_bytes_) {
      return {0, 0, 0, 0, 0};
    }
    int64_t rows = cursor_.row_count();
    if (rows * row_bytes > left_bytes_) {
      rows = left_bytes_ / row_bytes;
    }
    const int64_t row_stride = rows > 1 ? cursor_.row_stride() : 0;
    left_bytes_ -= rows * row_bytes;
    cursor_.advance_rows(rows);
    return {row.begin, row.stride, row.count, row_stride, rows};
  }

 private:
  Cursor cursor_;
  int64_t left_bytes_;
};

}  // namespace stria::pack
