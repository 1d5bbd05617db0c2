// The elements of datasets and attributes as an HDF5 file has them.
#pragma once

#include <cstddef>
#include <span>

#include "container/hdf5/write/format.hpp"
#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// The size of the datatype message of elements to be made. kInvalidArgument (a size that the kind can't have, members outside
/// of their compound, twice the same or overlapping), kUnsupported (kOther, nested too deep, too many members).
Result<size_t> datatype_bytes(const ElementSpec& element);
/// The message (format specification IV.A.2.d): numbers and strings of version 1, compounds of version 3, as in files of
/// release 1.8. \pre datatype_bytes() has found nothing wrong
void put_datatype(Encoder& to, const ElementSpec& element);

/// Declares strings in which an element has a byte beyond ASCII as UTF-8. The size of the message stays.
void declare_utf8(ElementSpec& element, std::span<const std::byte> elements);

/// Turns numbers that the file has in the other byte order than this machine, wherever they are in the elements.
void turn_to_file_order(const ElementSpec& element, std::span<std::byte> elements);

}  // namespace stria::container::h5
