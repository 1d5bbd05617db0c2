// The elements of datasets and attributes as an HDF5 file has them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "container/container.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// The datatype message of elements to be made (format specification IV.A.2.d): numbers and strings of version 1, compounds of
/// version 3, as in files of release 1.8. kInvalidArgument (a size that the kind can't have, members outside of their compound,
/// twice the same or overlapping), kUnsupported (kOther, nested too deep).
Result<std::vector<std::byte>> datatype(const ElementSpec& element);

/// Turns numbers that the file has in the other byte order than this machine, wherever they are in the elements.
void turn_to_file_order(const ElementSpec& element, std::span<std::byte> elements);

}  // namespace stria::container::h5
