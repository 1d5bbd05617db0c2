#include "access/together/window/coverage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace stria::access {

namespace {

constexpr int64_t kCoverageWordBits = Coverage::kWordBytes;

// Each value of eight bits has eight bytes here, 0xff where the bit is set. Bit 0 stands for the
// first byte in memory.
constexpr std::array<std::array<uint8_t, 8>, 256> make_byte_masks() {
  std::array<std::array<uint8_t, 8>, 256> masks{};
  for (size_t value = 0; value < masks.size(); ++value) {
    for (size_t bit = 0; bit < 8; ++bit) {
      masks[value][bit] = (value >> bit & 1) != 0 ? 0xff : 0;
    }
  }
  return masks;
}
constexpr std::array<std::array<uint8_t, 8>, 256> kByteMasks = make_byte_masks();

// Makes eight bytes: those of `filled` where the bits are set, else those of `old`.
void blend(uint8_t bits, const std::byte* old, std::byte* filled) {
  uint64_t mask = 0;
  uint64_t a = 0;
  uint64_t b = 0;
  std::memcpy(&mask, kByteMasks[bits].data(), sizeof mask);
  std::memcpy(&a, old, sizeof a);
  std::memcpy(&b, filled, sizeof b);
  b = (a & ~mask) | (b & mask);
  std::memcpy(filled, &b, sizeof b);
}

}  // namespace

Coverage::Coverage(ByteRange window)
    : window_(window), words_(static_cast<size_t>((window.size() + kCoverageWordBits - 1) / kCoverageWordBits)) {}

void Coverage::add(ByteRange range) {
  STRIA_ASSERT(range.empty() || intersect(range, window_) == range, range.begin, range.end, window_.begin, window_.end);
  for (int64_t at = range.begin - window_.begin, end = range.end - window_.begin; at < end;) {
    int64_t word_begin = align_down(at, kCoverageWordBits);
    int64_t stop = std::min(end, word_begin + kCoverageWordBits);
    words_[static_cast<size_t>(at / kCoverageWordBits)] |= bits_between(at - word_begin, stop - word_begin);
    at = stop;
  }
}

void Coverage::add_row(const PieceRow& row) {
  STRIA_ASSERT(row.count > 0 && window_.begin <= row.begin && row.end() <= window_.end, row.begin, row.end(), window_.begin,
               window_.end);
  int64_t at = row.begin - window_.begin;
  const uint64_t mask = bits_between(0, std::min(row.piece_bytes, kCoverageWordBits));
  for (int64_t i = 0; i < row.count; ++i, at += row.stride) {
    const auto place = static_cast<uint64_t>(at) % kCoverageWordBits;
    if (static_cast<int64_t>(place) + row.piece_bytes <= kCoverageWordBits) {
      words_[static_cast<uint64_t>(at) / kCoverageWordBits] |= mask << place;
    } else {
      add({window_.begin + at, window_.begin + at + row.piece_bytes});
    }
  }
}

Coverage::Stretches Coverage::stretches() const {
  Stretches found;
  uint64_t before = 0;  // the bit before the word
  size_t first = words_.size();
  size_t last = 0;
  for (size_t w = 0; w < words_.size(); ++w) {
    const uint64_t word = words_[w];
    if (word != 0) {
      first = std::min(first, w);
      last = w;
    }
    found.count += std::popcount(word & ~(word << 1 | before));
    found.bytes += std::popcount(word);
    before = word >> (kCoverageWordBits - 1);
  }
  if (found.count > 0) {
    const auto place = [&](size_t w) { return window_.begin + static_cast<int64_t>(w) * kCoverageWordBits; };
    found.hull = {place(first) + std::countr_zero(words_[first]),
                  place(last) + kCoverageWordBits - std::countl_zero(words_[last])};
  }
  return found;
}

void Coverage::fill_gaps(ByteRange range, const std::byte* old, std::byte* filled) const {
  STRIA_ASSERT(range.empty() || intersect(range, window_) == range, range.begin, range.end, window_.begin, window_.end);
  STRIA_ASSERT((range.begin - window_.begin) % kWordBytes == 0, range.begin, window_.begin);
  size_t w = static_cast<size_t>((range.begin - window_.begin) / kCoverageWordBits);
  int64_t at = 0;
  for (; at + kCoverageWordBits <= range.size(); at += kCoverageWordBits, ++w) {
    const uint64_t word = words_[w];
    if (word == 0) {
      std::memcpy(filled + at, old + at, kCoverageWordBits);
    } else if (word != ~uint64_t{0}) {
      for (int64_t i = 0; i < kCoverageWordBits; i += 8) {
        blend(static_cast<uint8_t>(word >> i), old + at + i, filled + at + i);
      }
    }
  }
  for (; at < range.size(); ++at) {
    const int64_t bit = range.begin - window_.begin + at;
    if ((words_[static_cast<size_t>(bit / kCoverageWordBits)] >> (bit % kCoverageWordBits) & 1) == 0) {
      filled[at] = old[at];
    }
  }
}

int64_t Coverage::find(int64_t from, bool covered) const {
  for (int64_t at = from; at < window_.size();) {
    int64_t word_begin = align_down(at, kCoverageWordBits);
    uint64_t word = words_[static_cast<size_t>(at / kCoverageWordBits)];
    word = (covered ? word : ~word) & bits_between(at - word_begin, kCoverageWordBits);
    if (word != 0) {
      return std::min<int64_t>(word_begin + std::countr_zero(word), window_.size());
    }
    at = word_begin + kCoverageWordBits;
  }
  return window_.size();
}

}  // namespace stria::access
