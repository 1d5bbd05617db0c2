// The names of a directory: entries of one object, so that a rename is one change.
//
// Method: every change names what it expects to find, and is tried again when another program was
// first. The change that takes a file its last name notes the file's number beside the names; so
// its objects are found again if the program is killed before they are removed.
// Cost: two requests, a new name one more for its note, and those for a directory that is new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/rados/pool.hpp"
#include "storage/rados/rados_driver.hpp"

namespace stria::storage {

/// A change of names that another's came between is tried so often.
inline constexpr int kMaxAttempts = 100;

/// Says what a name means.
struct Named {
  bool is_directory = false;
  uint64_t file = 0;
};

/// Returns the error of a name that means nothing.
Status no_such_file();

/// Nothing where the name, or its directory, doesn't exist.
Result<std::optional<Named>> look_up(const Pool& pool, const std::string& directory, const std::string& name);

/// Notes that a file of this number is about to be made, in a directory that is made where it is
/// missing: so its objects are found again if the program is killed before it has a name. Returns
/// what add_name() needs to know.
Result<std::string> note_new_file(const Pool& pool, const std::string& directory, uint64_t file);
/// Ends the note on a file that has got no name.
void forget_new_file(const Pool& pool, const std::string& directory, uint64_t file);

/// Gives the new file its name. False when the name is taken, or the note has been overdue.
struct NewName {
  const std::string& directory;
  const std::string& name;
  uint64_t file = 0;
  const std::string& note;
};
Result<bool> add_name(const Pool& pool, const NewName& wanted);

/// Takes the name from its file, which goes when no handle is left. kNotFound, or kInvalidArgument
/// for a directory.
Status remove_name(const Pool& pool, const std::string& directory, const std::string& name);

/// Renames within a directory; a file that had the new name goes as with remove_name().
Status change_name(const Pool& pool, const std::string& directory, const std::string& from, const std::string& to);

/// Lists the names, sorted. kNotFound when there is no such directory.
Result<std::vector<PoolEntry>> list_names(const Pool& pool, const std::string& directory);

}  // namespace stria::storage
