// Describes what numbers are to other programs, where their type alone doesn't say it.
#pragma once

#include <cstdint>
#include <string>

namespace stria {

/// Says how HDF5 files declare numbers. In memory they stay the numbers that they are.
enum class Meaning : uint8_t {
  kNumber = 0,
  kBoolean,  ///< 0 and 1 in kUint8: bool for h5py and NumPy
  kHalf,     ///< the bits of IEEE half precision in kUint16, which are never converted
  /// Pairs of kFloat32 or of kFloat64: the last dimension, of length 2, has the real and the
  /// imaginary part. Other programs see complex numbers, without that dimension.
  kComplex,
};

/// A name of a number: a member of an enumeration.
struct NamedNumber {
  std::string name;
  int64_t value = 0;  ///< a kUint64 by its bits
  bool operator==(const NamedNumber&) const = default;
};

}  // namespace stria
