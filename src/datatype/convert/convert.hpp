// Converts arrays of numbers, swaps their bytes, and finds their range, at any alignment.
//
// A number that the type wanted can't hold becomes the nearest that it can, as in HDF5: integers
// the nearest end of the range, NaN becomes the integer 0, and a double beyond the range of float
// becomes an infinity. Within the range conversions follow C++: floating point is cut to an
// integer, and rounds to the nearest float; integers round to the nearest floating value.
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

/// Returns true for equal types and for any two numeric ones.
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
