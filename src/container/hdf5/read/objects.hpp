// Walks the groups of an HDF5 file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/read/library.hpp"

namespace stria::container::h5 {

/// The paths of all datasets, and of groups with '/' at the end, in the order of names, depth
/// first. A group with several paths is listed under each, but its content only once. Soft links
/// that lead nowhere and links to other files are left out. Errors: kCorrupted, kUnsupported.
Result<std::vector<std::string>> list_objects(hid_t file);

/// The members of a group, sorted by name, with the addresses of their headers; -1 where a link is
/// soft or leads to another file.
Result<std::vector<std::pair<std::string, int64_t>>> list_members(hid_t group);

/// The sorted names of an object's attributes.
Result<std::vector<std::string>> list_attributes(hid_t object);

}  // namespace stria::container::h5
