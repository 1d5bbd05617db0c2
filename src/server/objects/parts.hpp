// Divides a list of places in an object into parts that are moved at once: long runs of neighbours,
// or short places that follow each other within one block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "server/objects/block_sums.hpp"

namespace stria::server {

/// A place with the memory that belongs to it.
struct Piece {
  ByteRange range;
  std::byte* data = nullptr;
};

/// The least range that holds all pieces.
inline ByteRange hull_of(std::span<const Piece> pieces) {
  ByteRange hull = pieces.front().range;
  for (const Piece& piece : pieces) {
    hull = {std::min(hull.begin, piece.range.begin), std::max(hull.end, piece.range.end)};
  }
  return hull;
}

/// Either a run, or pieces of one block.
struct Part {
  Piece run;
  std::vector<Piece> pieces;  ///< empty: it is a run

  int64_t block() const { return pieces.front().range.begin / kBlockBytes; }
};

class Parts {
 public:
  /// The data lie packed at `data`.
  Parts(std::span<const ByteRange> places, std::byte* data) : places_(places), data_(data) { take(0); }

  /// Returns false when no part is left.
  bool next(Part& part) {
    part.pieces.clear();
    if (index_ == places_.size()) {
      return false;
    }
    const ByteRange run = run_from_here();
    if (run.size() >= kLeastRun) {
      part.run = {run, data_};
      take(run.size());
      return true;
    }
    const int64_t block = here() / kBlockBytes;
    while (index_ < places_.size() && here() / kBlockBytes == block) {
      const ByteRange range{here(), std::min(places_[index_].end, (block + 1) * kBlockBytes)};
      part.pieces.push_back({range, data_});
      take(range.size());
    }
    return true;
  }

 private:
  static constexpr int64_t kLeastRun = 2 * kBlockBytes;

  int64_t here() const { return places_[index_].begin + used_; }
  ByteRange run_from_here() const {
    ByteRange run{here(), places_[index_].end};
    for (size_t i = index_ + 1; i < places_.size() && places_[i].begin == run.end; ++i) {
      run.end = places_[i].end;
    }
    return run;
  }
  /// Goes on to the next place that is not empty.
  void take(int64_t bytes) {
    data_ += bytes;
    for (used_ += bytes; index_ < places_.size() && used_ >= places_[index_].size(); ++index_) {
      used_ -= places_[index_].size();
    }
  }

  std::span<const ByteRange> places_;
  std::byte* data_;
  size_t index_ = 0;
  int64_t used_ = 0;  // of the place at index_
};

}  // namespace stria::server
