// The elements of datasets and attributes as an HDF5 file has them.
#pragma once

#include <cstddef>
#include <span>

#include "container/hdf5/form/format.hpp"
#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// What a reference takes in the file: the address of an object's header.
inline constexpr int64_t kReferenceBytes = 8;
/// A list of references has two numbers: how many there are, and where in a heap.
inline constexpr int64_t kListBytes = 16;
/// A text of any length has two as well: how many bytes, and where in a heap.
inline constexpr int64_t kTextPlaceBytes = 16;

/// Returns the size of the datatype message for elements to be made. kInvalidArgument: a size that
/// the kind can't have; members outside their compound, with the same name, or overlapping.
/// kUnsupported: kOther, nests that are too deep, too many members.
Result<size_t> datatype_bytes(const ElementSpec& element);
/// Writes the message (format specification IV.A.2.d): numbers and strings in version 1, compounds
/// in version 3, as in files of release 1.8. \pre datatype_bytes() finds no error
void put_datatype(Encoder& to, const ElementSpec& element);

/// Declares strings as UTF-8 where an element has a byte beyond ASCII. The size of the message
/// stays the same.
void declare_utf8(ElementSpec& element, std::span<const std::byte> elements);

/// Swaps the bytes of all numbers in the elements whose byte order in the file is not
/// this machine's.
void turn_to_file_order(const ElementSpec& element, std::span<std::byte> elements);

}  // namespace stria::container::h5
