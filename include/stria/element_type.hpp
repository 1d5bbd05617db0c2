// The numeric element types that Stria converts between.
#pragma once

#include <cstdint>

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

/// Size of one element in bytes.
int64_t element_bytes(ElementType type);

/// The stable lower-case name, e.g. "float64".
const char* element_type_name(ElementType type);

/// The element type of a C++ arithmetic type.
template <typename T>
constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<std::int8_t>() {
  return ElementType::kInt8;
}
template <>
constexpr ElementType element_type_of<std::uint8_t>() {
  return ElementType::kUint8;
}
template <>
constexpr ElementType element_type_of<std::int16_t>() {
  return ElementType::kInt16;
}
template <>
constexpr ElementType element_type_of<std::uint16_t>() {
  return ElementType::kUint16;
}
template <>
constexpr ElementType element_type_of<std::int32_t>() {
  return ElementType::kInt32;
}
template <>
constexpr ElementType element_type_of<std::uint32_t>() {
  return ElementType::kUint32;
}
template <>
constexpr ElementType element_type_of<std::int64_t>() {
  return ElementType::kInt64;
}
template <>
constexpr ElementType element_type_of<std::uint64_t>() {
  return ElementType::kUint64;
}
template <>
constexpr ElementType element_type_of<float>() {
  return ElementType::kFloat32;
}
template <>
constexpr ElementType element_type_of<double>() {
  return ElementType::kFloat64;
}

}  // namespace stria
