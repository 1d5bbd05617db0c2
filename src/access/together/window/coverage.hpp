// Keeps which bytes of a window have been filled.
//
// Problem: several contributors may fill a window; their bytes may overlap and leave holes, and
// sums of their sizes show neither.
// Method: one bit per byte, marked and counted by whole words.
// Cost: an eighth of the window. A piece costs its length / 64 words, or two; a question costs a
// few instructions per word, however many pieces there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "datatype/cursor.hpp"

namespace stria::access {

/// Returns the bits [low, high) of a word. \pre 0 <= low < high <= 64
inline uint64_t bits_between(int64_t low, int64_t high) {
  STRIA_ASSERT(0 <= low && low < high && high <= 64, low, high);
  const uint64_t below_high = high == 64 ? ~uint64_t{0} : (uint64_t{1} << high) - 1;
  return below_high & (~uint64_t{0} << low);
}

class Coverage {
 public:
  static constexpr int64_t kWordBytes = 64;  ///< bytes of the window for which a word stands

  /// Nothing is covered yet.
  explicit Coverage(ByteRange window);

  /// \pre `range` lies in the window
  void add(ByteRange range);
  /// Covers each piece of a row. \pre they all lie in the window
  void add_row(const PieceRow& row);

  /// A summary of the covered stretches.
  struct Stretches {
    int64_t count = 0;
    int64_t bytes = 0;
    ByteRange hull;  ///< from the first covered byte to the last
  };
  Stretches stretches() const;

  /// Copies the bytes of `range` that are not covered from `old` to `filled`; both are places of
  /// the range's first byte.
  /// \pre `range` lies in the window and begins a multiple of kWordBytes after its beginning
  void fill_gaps(ByteRange range, const std::byte* old, std::byte* filled) const;

  /// Calls `visit(ByteRange)` for each covered stretch, by increasing offset.
  template <typename Visit>
  void for_each_run(Visit&& visit) const;

 private:
  /// Finds the first position at or after `from` whose bit is `covered`, or the window's size.
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
