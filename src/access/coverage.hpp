// Which bytes of a window have been filled.
//
// Problem: several contributors may fill a window's bytes, overlap, and leave holes; sums of their sizes tell neither. Method:
// a bit a byte, marked by whole words. Cost: an eighth of the window; a piece costs its length / 64 or two words.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::access {

class Coverage {
 public:
  /// Nothing is covered yet.
  explicit Coverage(ByteRange window);

  /// \pre `range` lies in the window
  void add(ByteRange range);

  /// Calls `visit(ByteRange)` for each covered stretch, by increasing offset.
  template <typename Visit>
  void for_each_run(Visit&& visit) const;

 private:
  /// The first position at or after `from` whose bit is `covered`, or the window's size.
  int64_t find(int64_t from, bool covered) const;

  ByteRange window_;
  std::vector<uint64_t> words_;
};

template <typename Visit>
void Coverage::for_each_run(Visit&& visit) const {
  for (int64_t at = find(0, true); at < window_.size();) {
    int64_t end = find(at, false);
    visit(ByteRange{window_.begin + at, window_.begin + end});
    at = find(end, true);
  }
}

}  // namespace stria::access
