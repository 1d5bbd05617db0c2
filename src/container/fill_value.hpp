// Describes what elements read as that nobody has put: one value over and over, in the file's byte
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/spec.hpp"
#include "stria/fill_value.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// Fills `out`, which begins with the first byte of an element. `value` is that of a
/// DatasetSpec.
void lay_fill_value(std::span<const std::byte> value, std::span<std::byte> out);

/// Returns the byte of raw data that were never put, counted from the beginning of the dataset.
inline std::byte unwritten_byte(std::span<const std::byte> value, int64_t at) {
  return value.empty() ? std::byte{0} : value[static_cast<size_t>(at) % value.size()];
}

/// Returns a number as an element of `element`, in the machine's byte order. kInvalidArgument when
/// that can't hold it, all of its imaginary part included.
Result<std::vector<std::byte>> fill_value_as(const ElementSpec& element, const FillValue& value);

/// Returns the fill value of numbers: none is given where it is zero.
FillValue fill_value_of(const DatasetSpec& spec);

}  // namespace stria::container
