#include "container/chunks/shuffle.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace stria::container {

namespace {

constexpr size_t kLanes = 16;  // elements at once
// Planes of a large chunk begin in the same set of the cache. A store of whole lines leaves none of
// them there half-written.
constexpr size_t kLineBytes = 64;
using Bytes = uint8_t __attribute__((vector_size(kLanes)));

// Writes the bytes of the first half and of the second one in turn. An index of a byte then has its
// highest bit lowest. With 16 elements of 2^k bytes, k such steps exchange the bits of the
// element and those of the byte one way, and four the other way.
template <size_t kWidth>
void interleave(std::array<Bytes, kWidth>& rows) {
  std::array<Bytes, kWidth> mixed;
  for (size_t i = 0; i < kWidth / 2; ++i) {
    const Bytes a = rows[i];
    const Bytes b = rows[i + kWidth / 2];
    mixed[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    mixed[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  rows = mixed;
}

// Both return how many elements are done.
template <size_t kWidth>
size_t shuffle_many(const std::byte* in, std::byte* out, size_t count) {
  constexpr size_t kGroups = kLineBytes / kLanes;
  size_t at = 0;
  for (; at + kLineBytes <= count; at += kLineBytes) {
    std::array<std::array<Bytes, kWidth>, kGroups> groups;
    for (size_t group = 0; group < kGroups; ++group) {
      std::memcpy(&groups[group], in + (at + group * kLanes) * kWidth, sizeof groups[group]);
      for (size_t step = 1; step < kLanes; step *= 2) {
        interleave(groups[group]);
      }
    }
    for (size_t byte = 0; byte < kWidth; ++byte) {
      for (size_t group = 0; group < kGroups; ++group) {
        std::memcpy(out + byte * count + at + group * kLanes, &groups[group][byte], kLanes);
      }
    }
  }
  return at;
}

template <size_t kWidth>
size_t unshuffle_many(const std::byte* in, std::byte* out, size_t count) {
  size_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    std::array<Bytes, kWidth> rows;
    for (size_t byte = 0; byte < kWidth; ++byte) {
      std::memcpy(&rows[byte], in + byte * count + at, kLanes);
    }
    for (size_t step = 1; step < kWidth; step *= 2) {
      interleave(rows);
    }
    std::memcpy(out + at * kWidth, rows.data(), sizeof rows);
  }
  return at;
}

// Returns the number of elements whose bytes were moved, many at once; the rest are left to the
// caller.
size_t shuffle_most(const std::byte* in, std::byte* out, size_t count, size_t width) {
  return width == 8    ? shuffle_many<8>(in, out, count)
         : width == 16 ? shuffle_many<16>(in, out, count)
         : width == 4  ? shuffle_many<4>(in, out, count)
         : width == 2  ? shuffle_many<2>(in, out, count)
                       : 0;
}

size_t unshuffle_most(const std::byte* in, std::byte* out, size_t count, size_t width) {
  return width == 8    ? unshuffle_many<8>(in, out, count)
         : width == 16 ? unshuffle_many<16>(in, out, count)
         : width == 4  ? unshuffle_many<4>(in, out, count)
         : width == 2  ? unshuffle_many<2>(in, out, count)
                       : 0;
}

}  // namespace

void shuffle(std::span<const std::byte> in, std::span<std::byte> out, int64_t element_bytes) {
  const auto width = static_cast<size_t>(element_bytes);
  const size_t count = in.size() / width;
  const size_t done = shuffle_most(in.data(), out.data(), count, width);
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
  const size_t done = unshuffle_most(in.data(), out.data(), count, width);
  for (size_t i = done; i < count; ++i) {
    for (size_t byte = 0; byte < width; ++byte) {
      out[i * width + byte] = in[byte * count + i];
    }
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(count * width), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(count * width));
}

}  // namespace stria::container
