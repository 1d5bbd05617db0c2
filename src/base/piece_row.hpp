// Equal pieces at equal distances: the unit in which regular pieces are walked and copied.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.hpp"

namespace stria {

/// Describes `count` pieces of `piece_bytes`, the first at offset `begin`, `stride` apart.
struct PieceRow {
  int64_t begin = 0;
  int64_t piece_bytes = 0;
  int64_t stride = 0;
  int64_t count = 0;

  int64_t bytes() const { return count * piece_bytes; }
  /// Returns where the last piece ends. \pre count > 0
  int64_t end() const {
    STRIA_ASSERT(count > 0, count);
    return begin + (count - 1) * stride + piece_bytes;
  }
  friend bool operator==(const PieceRow&, const PieceRow&) = default;
};

/// Adds pieces behind those of the rows: to the last row where they go on as it does, ascending and
/// without overlap. Single neighbours become one piece. \pre next.count > 0
inline void append(std::vector<PieceRow>& rows, const PieceRow& next) {
  STRIA_ASSERT(next.count > 0, next.count);
  if (!rows.empty()) {
    PieceRow& last = rows.back();
    if (last.count == 1 && next.count == 1 && next.begin == last.end()) {
      last.piece_bytes += next.piece_bytes;
      return;
    }
    const int64_t distance = next.begin - last.begin - (last.count - 1) * last.stride;
    const bool follows = last.count == 1 ? distance >= last.piece_bytes : distance == last.stride;
    if (follows && next.piece_bytes == last.piece_bytes && (next.count == 1 || next.stride == distance)) {
      last.stride = distance;
      last.count += next.count;
      return;
    }
  }
  rows.push_back(next);
}

}  // namespace stria
