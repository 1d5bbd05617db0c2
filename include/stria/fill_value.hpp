// Describes what elements of a dataset read as that nobody puts.
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>

#include "stria/element_type.hpp"

namespace stria {

/// A number of any type, perhaps complex, or none, which is zero:
/// `DatasetOptions{.fill_value = -999.0}`.
struct FillValue {
  FillValue() = default;
  template <Number T>
  FillValue(T value)  // NOLINT(google-explicit-constructor): a number is one
      : is_given(true), element(element_type_of<T>()) {
    std::memcpy(bytes.data(), &value, sizeof value);
  }
  template <std::floating_point T>
  FillValue(const std::complex<T>& value)  // NOLINT(google-explicit-constructor): likewise
      : is_given(true), element(element_type_of<T>()) {
    std::memcpy(bytes.data(), &value, sizeof value);
  }

  bool is_given = false;
  ElementType element = ElementType::kUint8;          ///< the type of each part of a complex number
  std::array<std::byte, 2 * sizeof(double)> bytes{};  ///< in memory: the number, its imaginary part
};

}  // namespace stria
