// Between ElementSpec and libhdf5's datatypes.
#pragma once

#include "container/container.hpp"
#include "container/hdf5/library.hpp"

namespace stria::container::h5 {

/// The type as it is in the file. kInvalidArgument, kUnsupported (kOther).
Result<Id> make_file_type(const ElementSpec& element);
/// The type of the elements in a buffer: the same sizes and places, numbers in the machine's byte order.
Result<Id> make_memory_type(const ElementSpec& element);

/// What a file's type is in our terms; types that we have no word for (also nested too deep) are kOther. Enumerations count as
/// the integers that they are stored as. A string of variable length is a kString of 0 bytes: only its values tell how long it
/// is.
Result<ElementSpec> describe_type(hid_t file_type);
/// The type in memory for reading a file's type: as make_memory_type, and bytes as they are where libhdf5 can't convert.
Result<Id> memory_type_of(hid_t file_type);
/// True when elements of the type in memory would hold pointers, or places in the file that mean nothing elsewhere.
bool holds_pointers(hid_t file_type);

}  // namespace stria::container::h5
