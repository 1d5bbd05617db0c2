// Converts arrays of numbers, swaps their bytes, and finds their range, at any alignment.
//
// Conversions follow C++. Integers wrap modulo 2^n. Floating point rounds to nearest; a double
// beyond the range of float becomes an infinity. Integers round to the nearest floating value.
// Where an integer can't hold a floating value, C++ leaves the outcome open; here it is the nearest
// integer of the type, and 0 for NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "stria/element_type.hpp"

namespace stria {

/// The smallest and largest value seen, as memory held them; NaN is ignored. Empty while
/// minimum > maximum.
struct ValueRange {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
};

/// True for equal types and for any two numeric ones.
bool can_convert(ElementType from, ElementType to);

/// Reads `count` elements at `source` and writes them as `to` at `target`. The arrays don't
/// overlap. \pre can_convert(from, to)
void convert_elements(ElementType from, const std::byte* source, ElementType to, std::byte* target, int64_t count);

/// Copies `count` elements and reverses the bytes of each; `source` may equal `target`. \pre
/// width_bytes is 1, 2, 4 or 8
void swap_elements(int64_t width_bytes, const std::byte* source, std::byte* target, int64_t count);

/// Widens `range` by `count` elements; 64-bit integers are rounded to double. Does
/// nothing for kByte.
void widen_range(ElementType type, const std::byte* source, int64_t count, ValueRange& range);

}  // namespace stria
