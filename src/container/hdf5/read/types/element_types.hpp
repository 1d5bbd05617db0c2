// Translates libhdf5's datatypes into those of the container.
#pragma once

#include <string>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Describes a file's type. Types without a counterpart, and those nested too deep, are kOther.
/// Enumerations count as the integers by which they are stored, but for h5py's booleans. A string
/// of variable length is a kString of 0 bytes, since only its values tell how long it is. Where
/// takes_library() is true, it is what read_remade() gives: members follow each other, and those
/// that can't be read have no bytes.
Result<ElementSpec> describe_type(hid_t file_type);
/// Tells whether only libhdf5 makes of the file's elements what memory gets: integers and
/// floating-point numbers of which not all bits count, and records with such, with text of any
/// length, or with places in the file.
bool takes_library(hid_t file_type);
/// Returns what of such a type takes libhdf5, in words: a member, where it is a record.
std::string what_takes_library(hid_t file_type);
/// Returns the type in memory for reading a file's type: it has the same sizes and places, and
/// numbers in the machine's byte order. Bytes stay as they are where libhdf5 can't convert.
Result<Id> memory_type_of(hid_t file_type);
/// True when elements of this type would hold pointers in memory, or places in the file, which mean
/// nothing elsewhere.
bool holds_pointers(hid_t file_type);

}  // namespace stria::container::h5
