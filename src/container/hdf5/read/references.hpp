// The references that a file holds, in attributes and in datasets.
//
// Problem: a reference is the address of an object's header. Where that header gets another place,
// its holders must be known.
// Method: all headers are read. Only attributes and datasets of a type that can hold references are
// opened by libhdf5, and of those with references every value is looked at.
// Cost: a few microseconds an object.
#pragma once

#include <hdf5.h>

#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Finds all references of a file, by whatever object holds them. Those of a dataset that can't be
/// read count as one to an unknown address. An object with several names holds them under one.
/// Errors: kCorrupted.
Result<std::vector<HeldReference>> find_references(hid_t file, const MetadataSource& source);

}  // namespace stria::container::h5
