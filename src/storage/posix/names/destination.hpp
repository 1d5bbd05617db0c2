// Finds out where a file goes that takes a name.
//
// Problem: a file is written under a temporary name and renamed. A rename replaces whatever has the
// name: a link instead of what it means, a pipe, a device; and links that another user has planted
// lead to files that nobody meant.
// Method: links are followed here, one by one, so that the temporary name lies beside the file that
// is replaced, on the same file system. A link counts only where the kernel would follow it with
// fs.protected_symlinks on, whatever its setting is.
// Cost: one system call where the name is free; where a file has it, one more and those for its
// attributes.
#pragma once

#include <string>

#include "storage/driver.hpp"

namespace stria::storage {

/// Driver::follow_links() and Driver::find_destination() of the system's names.
std::string followed_links(const std::string& path);
Result<Destination> destination_of(const std::string& path);

}  // namespace stria::storage
