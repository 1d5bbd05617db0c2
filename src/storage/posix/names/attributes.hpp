// Describes what a file has besides its name and bytes: mode, owner, group, access list, and the
// user's extended attributes. A file that replaces another gets them from it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::storage {

/// Returns what can be read of them; the rest counts as missing.
FileAttributes attributes_of(const std::string& path, const struct stat& details);

/// Sets them on an open file, whose messages call it `path`. The access list counts as part of the
/// mode. Where owner or group stay this process's, the group and the others get what both had; a
/// file system without lists gets what the list granted to the file's group at most. Other
/// attributes that the file system doesn't take are left out.
Status give_attributes(int descriptor, const std::string& path, const FileAttributes& attributes);

}  // namespace stria::storage
