// Walks the groups of an HDF5 file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Holds what a file has.
struct Listed {
  /// The paths of all datasets, and of groups with '/' at the end, depth first, in the order of
  /// names, or of creation where a group keeps that. A group with several paths is listed under
  /// each, but its content only once, and not under a soft link. Soft links that lead nowhere and
  /// links to other files are left out.
  std::vector<std::string> paths;
  std::vector<LinkSpec> links;  ///< the soft ones, and those to other files
  std::vector<Alias> aliases;   ///< what container::Reader::aliases() returns
};
/// Errors: kCorrupted, kUnsupported.
Result<Listed> list_objects(hid_t file);

/// Lists the links of a group, in the same order, without what soft and other links lead to.
Result<std::vector<GroupMember>> list_links(hid_t group);
/// Finds where a link leads that is soft, or to another file.
Status find_target(hid_t group, GroupMember& link);
/// Lists the members of a group, in the same order.
Result<std::vector<GroupMember>> list_members(hid_t group);

/// Returns the names of an object's attributes, sorted, or in the order of creation where it keeps
/// that.
Result<std::vector<std::string>> list_attributes(hid_t object);
/// Does the same by the header alone, so that libhdf5 needn't know their types: release 1.10 lists
/// none where it doesn't know one, or crashes. kUnsupported when not all of them are in the header.
Result<std::vector<std::string>> list_attributes(const ObjectMessages& header);

}  // namespace stria::container::h5
