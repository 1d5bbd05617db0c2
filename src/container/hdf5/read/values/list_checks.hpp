// Looks at elements of variable length, and at references to regions, before libhdf5 reads them.
//
// Each function is to be called before H5Dread() or H5Aread() with a type that holds such. Other
// types pass at once.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>

#include "stria/status.hpp"

namespace stria::container::h5 {

/// Tells whether libhdf5 may read the part [start, start + count) of a dataset. Errors: kCorrupted;
/// kUnsupported for virtual data, and filters that are not known here. The part lies in it.
Status check_lists(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count);
/// Does the same for all of it.
Status check_lists(hid_t dataset);

/// Tells whether it may read the value of an attribute. kCorrupted, kUnsupported.
Status check_attribute_lists(hid_t attribute);

}  // namespace stria::container::h5
