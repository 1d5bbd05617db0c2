// Decides which names the objects of a new file may have: those that every reader of HDF5 can tell
// apart, print and open.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::file {

/// The group in which the library keeps its checksums.
inline constexpr const char* kOwnGroup = ".stria";
/// Returns the path of the library's own dataset of that name.
std::string own_path(const char* name);
/// The longest path of an object, and the longest name of an attribute.
inline constexpr size_t kLongestNameBytes = 4096;

/// Returns the path as "a/b": "/a/b" and "a/b" name the same dataset.
std::string without_leading_slash(const std::string& path);
/// kInvalidArgument, with the reason, where `path` can't name a dataset: empty, a part that is
/// empty, "." or "..", bytes that are not UTF-8, a NUL, too long, or within ".stria", where the
/// library keeps its checksums.
Status check_dataset_name(const std::string& path);
/// Checks what the link at `path` leads to.
Status check_link_target(const std::string& path, const std::string& target);
/// Checks the name of an attribute of the object at `object`, which may be the root.
Status check_attribute_name(const std::string& object, const std::string& name);

}  // namespace stria::file
