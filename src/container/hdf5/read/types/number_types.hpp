// libhdf5's types of numbers, and those of the container.
#pragma once

#include <cstddef>
#include <cstdint>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Those of the widest number that is read.
inline constexpr size_t kNumberBytesMax = 8;

/// Returns a type without a counterpart.
ElementSpec other_type(int64_t bytes);

/// Describes a type of H5T_INTEGER or H5T_FLOAT, of `bytes`. Of a reduced one it is the smallest
/// number that has all its values, in the machine's byte order, as libhdf5 gives it.
ElementSpec describe_integer(hid_t type, size_t bytes);
ElementSpec describe_float(hid_t type, size_t bytes);
ElementSpec describe_half(hid_t type);

/// Returns true for an integer of which some bits don't count, or of 3, 5, 6 or 7 bytes.
bool is_reduced_integer(hid_t type, size_t bytes);
/// Returns true for a floating-point number that isn't one of IEEE, of which a float or a double
/// has all values.
bool is_reduced_float(hid_t type, size_t bytes);
/// IEEE half precision, of which the engine moves the bits.
bool is_half(hid_t type, size_t bytes);

/// libhdf5's own type for a number; the caller doesn't close it. \pre number isn't kByte
hid_t native_type_of(ElementType number);
Result<Id> copy_of(hid_t type);
/// Does the same type with the machine's byte order, where it has one.
Result<Id> in_native_order(hid_t type);

}  // namespace stria::container::h5
