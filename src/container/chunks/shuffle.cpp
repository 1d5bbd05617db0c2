#include "container/chunks/shuffle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stria::container {

namespace {

constexpr size_t kLanes = 8;

// Exchanges rows and columns of 8 by 8 bytes, a row a word: halves, then quarters, then bytes.
void transpose(uint64_t (&rows)[kLanes]) {
  constexpr uint64_t kMasks[] = {0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff};
  for (size_t step = 0, apart = 4; apart > 0; ++step, apart /= 2) {
    for (size_t i = 0; i < kLanes; ++i) {
      if ((i & apart) == 0) {
        const uint64_t moved = ((rows[i] >> (8 * apart)) ^ rows[i + apart]) & kMasks[step];
        rows[i + apart] ^= moved;
        rows[i] ^= moved << (8 * apart);
      }
    }
  }
}

// Elements of 8 bytes, 8 at a time; returns how many elements are done.
size_t shuffle_words(const std::byte* in, std::byte* out, size_t count) {
  size_t at = 0;
  for (; std::endian::native == std::endian::little && at + kLanes <= count; at += kLanes) {
    uint64_t rows[kLanes];
    std::memcpy(rows, in + at * kLanes, sizeof rows);
    transpose(rows);
    for (size_t i = 0; i < kLanes; ++i) {
      std::memcpy(out + i * count + at, &rows[i], kLanes);
    }
  }
  return at;
}

size_t unshuffle_words(const std::byte* in, std::byte* out, size_t count) {
  size_t at = 0;
  for (; std::endian::native == std::endian::little && at + kLanes <= count; at += kLanes) {
    uint64_t rows[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      std::memcpy(&rows[i], in + i * count + at, kLanes);
    }
    transpose(rows);
    std::memcpy(out + at * kLanes, rows, sizeof rows);
  }
  return at;
}

}  // namespace

void shuffle(std::span<const std::byte> in, std::span<std::byte> out, int64_t element_bytes) {
  const auto width = static_cast<size_t>(element_bytes);
  const size_t count = in.size() / width;
  const size_t done = width == kLanes ? shuffle_words(in.data(), out.data(), count) : 0;
  for (size_t byte = 0; byte < width; ++byte) {
    for (size_t i = done; i < count; ++i) {
      out[byte * count + i] = in[i * width + byte];
    }
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(count * width), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(count * width));
}

void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, int64_t element_bytes) {
  const auto width = static_cast<size_t>(element_bytes);
  const size_t count = in.size() / width;
  const size_t done = width == kLanes ? unshuffle_words(in.data(), out.data(), count) : 0;
  for (size_t i = done; i < count; ++i) {
    for (size_t byte = 0; byte < width; ++byte) {
      out[i * width + byte] = in[byte * count + i];
    }
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(count * width), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(count * width));
}

}  // namespace stria::container
