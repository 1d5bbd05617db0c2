// The numeric element types that Stria converts between.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace stria {

/// The representation of a number. `kByte` is not interpreted: it is moved as it is, never
/// converted or swapped.
enum class ElementType : uint8_t {
  kByte = 0,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat32,
  kFloat64,
};

/// Returns the size of one element in bytes.
int64_t element_bytes(ElementType type);

/// Returns the stable lower-case name, e.g. "float64".
const char* element_type_name(ElementType type);

/// The numbers that files hold: integers, floating-point numbers and bool, of at most 8 bytes.
template <typename T>
concept Number = std::is_arithmetic_v<T> && sizeof(T) <= 8;

/// The complex numbers that files hold: std::complex of float and of double.
template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Returns the element type with the representation of a C++ number: long and long long are kInt64
/// alike, bool is kUint8.
template <Number T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? ElementType::kFloat32 : ElementType::kFloat64;
  } else {
    constexpr ElementType kSigned[] = {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64};
    constexpr ElementType kUnsigned[] = {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kUint64};
    constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kWidth] : kUnsigned[kWidth];
  }
}

}  // namespace stria
