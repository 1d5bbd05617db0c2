// The object of a directory: its names, and the files in it that have none.
//
// Method: a directory is made with its first file, and is removed when it is asked for and empty.
// Whoever removes it first marks the object, from when on nothing is added to it, and then looks
// whether it is empty. Whoever makes it takes the mark away; the removal then fails. The name in
// the directory above goes last, unless it was written anew meanwhile.
// Cost: four requests for a new directory, three for each above it; a removal takes six.
#pragma once

#include <string>
#include <string_view>

#include "storage/rados/object_entries.hpp"
#include "storage/rados/pool.hpp"

namespace stria::storage {

/// This stands before a name; the value is a file's number, or that of a directory.
inline constexpr std::string_view kNameKey = "name:";
/// This stands before the number of a file without a name.
inline constexpr std::string_view kGoneKey = "gone:";
/// The directory has this while somebody removes it.
inline constexpr const char* kRemovedKey = "removed";

inline bool means_directory(std::string_view value) {
  return value.starts_with('/');
}
std::string name_key(const std::string& name);
std::string gone_key(uint64_t file);

/// Returns what the entry of a name says; empty: there is none.
Result<std::string> value_of(const Pool& pool, const std::string& directory, const std::string& name);

/// Makes the directory, and those above it, where they are missing.
Status make_directory(const Pool& pool, const std::string& directory);

/// kInvalidArgument for a directory with anything in it, or to which something is being added.
Status remove_directory(const Pool& pool, const std::string& directory);

/// Ends what programs were killed over in a directory: files that have lost their last name, and
/// such as never got one. A few of them at each call; `but_not` is left alone.
void remove_left_behind(const Pool& pool, const std::string& directory, uint64_t but_not);

/// Removes the objects of a file that lost its name in the directory, unless a handle is left.
Status remove_nameless(const Pool& pool, const std::string& directory, uint64_t file);

}  // namespace stria::storage
