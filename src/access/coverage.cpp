#include "access/coverage.hpp"

#include <algorithm>
#include <bit>

namespace stria::access {

namespace {

constexpr int64_t kWordBits = 64;

// The bits [low, high) of a word. \pre 0 <= low < high <= 64
uint64_t bits(int64_t low, int64_t high) {
  uint64_t below_high = high == kWordBits ? ~uint64_t{0} : (uint64_t{1} << high) - 1;
  return below_high & (~uint64_t{0} << low);
}

}  // namespace

Coverage::Coverage(ByteRange window)
    : window_(window), words_(static_cast<size_t>((window.size() + kWordBits - 1) / kWordBits)) {}

void Coverage::add(ByteRange range) {
  for (int64_t at = range.begin - window_.begin, end = range.end - window_.begin; at < end;) {
    int64_t word_begin = align_down(at, kWordBits);
    int64_t stop = std::min(end, word_begin + kWordBits);
    words_[static_cast<size_t>(at / kWordBits)] |= bits(at - word_begin, stop - word_begin);
    at = stop;
  }
}

int64_t Coverage::find(int64_t from, bool covered) const {
  for (int64_t at = from; at < window_.size();) {
    int64_t word_begin = align_down(at, kWordBits);
    uint64_t word = words_[static_cast<size_t>(at / kWordBits)];
    word = (covered ? word : ~word) & bits(at - word_begin, kWordBits);
    if (word != 0) {
      return std::min<int64_t>(word_begin + std::countr_zero(word), window_.size());
    }
    at = word_begin + kWordBits;
  }
  return window_.size();
}

}  // namespace stria::access
