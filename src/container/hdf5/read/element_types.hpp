// What libhdf5's datatypes are in our terms.
#pragma once

#include "container/hdf5/read/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// What a file's type is in our terms; types that we have no word for (also nested too deep) are kOther. Enumerations count as
/// the integers that they are stored as. A string of variable length is a kString of 0 bytes: only its values tell how long it
/// is.
Result<ElementSpec> describe_type(hid_t file_type);
/// The type in memory for reading a file's type: the same sizes and places, numbers in the machine's byte order, and bytes as
/// they are where libhdf5 can't convert.
Result<Id> memory_type_of(hid_t file_type);
/// True when elements of the type in memory would hold pointers, or places in the file that mean nothing elsewhere.
bool holds_pointers(hid_t file_type);

}  // namespace stria::container::h5
