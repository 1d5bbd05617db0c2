// Loops over the elements of one operand: the portable kernels, and the remainders of the
// vector kernels.
#pragma once

#include <type_traits>

#include "datatype/pack/pack_kernels.hpp"

namespace stria::pack {
// Each kernel file is compiled for another instruction set. Internal linkage, and no inline
// function of the standard library, keep the linker from using one file's code in the others.
namespace {

template <typename To, typename From>
inline To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}

/// The bits of a packed element, which is a float where doubles are narrowed.
template <bool narrowed, typename Element>
using SelectStored = std::conditional_t<narrowed, uint32_t, Element>;

inline uint64_t reverse(uint64_t value) {
  return __builtin_bswap64(value);
}
inline uint32_t reverse(uint32_t value) {
  return __builtin_bswap32(value);
}

/// Returns the bytes of one element in the packed stream.
template <typename Element, Form form>
constexpr int64_t packed_width() {
  return form == Form::kFloat || form == Form::kFloatSwapped ? 4 : static_cast<int64_t>(sizeof(Element));
}

template <typename Element, Form form>
inline auto to_packed(Element bits) {
  if constexpr (form == Form::kRaw) {
    return bits;
  } else if constexpr (form == Form::kSwapped) {
    return reverse(bits);
  } else {
    const auto narrowed = same_bits<uint32_t>(static_cast<float>(same_bits<double>(bits)));
    return form == Form::kFloat ? narrowed : reverse(narrowed);
  }
}

/// How many elements are read before the first of them is written, so that their cache lines come
/// at the same time. If each write followed its read, writes that wait for a line of the stream
/// would keep later reads from starting. Saves 5 to 12 % of the time for a single operand.
constexpr int64_t kReadTogether = 8;

template <typename Element, Form form, bool measures>
inline void gather_scalar(const std::byte* memory, int64_t stride, int64_t count, std::byte* packed, LaneRange* range) {
  constexpr int64_t kWidth = packed_width<Element, form>();
  // Kept in registers, as the stores below might alias the range.
  double minimum = measures ? range->minimum[0] : 0;
  double maximum = measures ? range->maximum[0] : 0;
  const auto put = [&](Element bits, int64_t i) {
    if constexpr (measures) {
      const auto value = same_bits<double>(bits);
      minimum = value < minimum ? value : minimum;
      maximum = value > maximum ? value : maximum;
    }
    const auto out = to_packed<Element, form>(bits);
    __builtin_memcpy(packed + i * kWidth, &out, sizeof out);
  };
  int64_t i = 0;
  for (; i + kReadTogether <= count; i += kReadTogether) {
    Element bits[kReadTogether];
    for (int64_t k = 0; k < kReadTogether; ++k) {
      __builtin_memcpy(&bits[k], memory + (i + k) * stride, sizeof bits[k]);
    }
    // Otherwise the compiler moves each write next to its read.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (int64_t k = 0; k < kReadTogether; ++k) {
      put(bits[k], i + k);
    }
  }
  for (; i < count; ++i) {
    Element bits;
    __builtin_memcpy(&bits, memory + i * stride, sizeof bits);
    put(bits, i);
  }
  if constexpr (measures) {
    range->minimum[0] = minimum;
    range->maximum[0] = maximum;
  }
}

template <typename Element, Form form>
inline void scatter_scalar(std::byte* memory, int64_t stride, int64_t count, const std::byte* packed) {
  constexpr bool kWidens = form == Form::kFloat || form == Form::kFloatSwapped;
  constexpr bool kSwaps = form == Form::kSwapped || form == Form::kFloatSwapped;
  using Stored = SelectStored<kWidens, Element>;
  for (int64_t i = 0; i < count; ++i) {
    Stored bits;
    __builtin_memcpy(&bits, packed + i * static_cast<int64_t>(sizeof bits), sizeof bits);
    bits = kSwaps ? reverse(bits) : bits;
    if constexpr (kWidens) {
      const auto value = static_cast<double>(same_bits<float>(bits));
      __builtin_memcpy(memory + i * stride, &value, sizeof value);
    } else {
      __builtin_memcpy(memory + i * stride, &bits, sizeof bits);
    }
  }
}

/// How many cache lines ahead gathering prefetches: as many as memory keeps under way.
constexpr int64_t kLinesAhead = 64;
/// Cells that are prefetched at a time, and then as many gathered: a whole row of long cells would
/// be more lines than memory keeps under way. A multiple of what the kernels transpose.
constexpr int64_t kCellsAtOnce = 8;

/// Prefetches cells that are gathered soon, into the second-level cache: the first level keeps too
/// few lines under way. The hardware doesn't follow elements that lie far apart with gaps between
/// the rows. This is always inlined, because GCC 12 drops calls of a function that only prefetches.
[[gnu::always_inline]] inline void prefetch_cells(const Comb& comb, int64_t offset, int64_t stride, int64_t count) {
  for (int n = 0; n < comb.line_count; ++n) {
    const std::byte* line = comb.lines[n] + offset;
    for (int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(line + i * stride, 0, 2);
    }
  }
}

/// Offset of the row to prefetch while row `r` is gathered, or kNoNext.
inline int64_t offset_ahead(const Comb& comb, const Row& row, int64_t r) {
  if (comb.line_count == 0) {
    return Row::kNoNext;
  }
  const int64_t lines = row.count * comb.line_count;
  int64_t ahead = r + (lines < kLinesAhead ? kLinesAhead / lines : 1);
  int64_t offset = row.offset;
  if (ahead >= row.rows) {
    ahead -= row.rows;
    offset = row.next_offset;
  }
  return offset == Row::kNoNext ? offset : offset + ahead * row.row_stride;
}

/// Makes a kernel for all rows from a kernel for one row; `width` is the size of an element in the
/// packed stream.
template <RowKernel one_row, int64_t width>
void each_row(const Comb& comb, const Row& row, int64_t packed_offset) {
  const int64_t step = comb.line_count > 0 ? kCellsAtOnce : row.count;
  for (int64_t r = 0; r < row.rows; ++r) {
    const int64_t ahead = offset_ahead(comb, row, r);
    for (int64_t i = 0; i < row.count; i += step) {
      const int64_t count = row.count - i < step ? row.count - i : step;
      const int64_t offset = i * row.stride;
      if (ahead != Row::kNoNext) {
        prefetch_cells(comb, ahead + offset, row.stride, count);
      }
      one_row(comb, {row.offset + r * row.row_stride + offset, row.stride, count}, packed_offset + (r * row.count + i) * width);
    }
  }
}

}  // namespace
}  // namespace stria::pack
