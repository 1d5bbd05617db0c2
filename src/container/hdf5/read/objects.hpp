// Walking the groups of an HDF5 file.
#pragma once

#include <string>
#include <vector>

#include "container/hdf5/read/library.hpp"

namespace stria::container::h5 {

/// Paths of all datasets, and of groups with '/' at the end, by name, depth first. A group that can be reached in several ways
/// is listed each time, its content once. Soft links that lead nowhere and links to other files are left out. kCorrupted,
/// kUnsupported.
Result<std::vector<std::string>> list_objects(hid_t file);

/// Names of the attributes of an object, sorted.
Result<std::vector<std::string>> list_attributes(hid_t object);

}  // namespace stria::container::h5
