// The element types of classic netCDF, and the versions of the format.
#pragma once

#include <cstdint>
#include <vector>

#include "container/spec.hpp"
#include "stria/format.hpp"
#include "stria/status.hpp"

namespace stria::container::netcdf {

/// CDF-1 has offsets of 32 bits, CDF-2 of 64 bits; CDF-5 has lengths of 64 bits too, and all
/// types of numbers.
enum class Version : uint8_t { kCdf1 = 1, kCdf2 = 2, kCdf5 = 5 };

constexpr Format format_of(Version version) {
  return version == Version::kCdf1 ? Format::kCdf1 : version == Version::kCdf2 ? Format::kCdf2 : Format::kCdf5;
}

enum class Type : int32_t {
  kByte = 1,
  kChar,
  kShort,
  kInt,
  kFloat,
  kDouble,
  kUbyte,
  kUshort,
  kUint,
  kInt64,
  kUint64,
};

inline constexpr int32_t kFirstType = static_cast<int32_t>(Type::kByte);
inline constexpr int32_t kLastType = static_cast<int32_t>(Type::kUint64);

int64_t type_bytes(Type type);
/// The versions before have only the first six types.
constexpr bool needs_cdf5(Type type) {
  return type > Type::kDouble;
}
/// Returns the type of a number.
Type type_of(ElementType number);
/// Returns a number as the file has it. \pre type is not kChar
ElementSpec element_of(Type type);

/// A dataset as a variable: its type, and the lengths of its dimensions, slowest first. Characters
/// are the last dimension of strings.
struct Shape {
  Type type = Type::kByte;
  std::vector<int64_t> lengths;
};

/// kUnsupported for elements that a classic file can't hold.
Result<Shape> shape_of(const DatasetSpec& spec);
/// Does the reverse: fills in `spec.element` and `spec.dims`. \pre spec.path is set
void describe_shape(const Shape& shape, DatasetSpec& spec);

/// Tells whether the machine's numbers of this type must have their bytes turned for the file.
bool is_turned(Type type);

}  // namespace stria::container::netcdf
