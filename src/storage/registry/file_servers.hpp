// Tells which servers there are, which of them are near, and which have bytes of a file, on storage
// whose servers have numbers: a store (docs/servers.md). All other storage has none.
//
// Cost: two messages to the manager; for those that are near, resolving each address.
#pragma once

#include <string>
#include <vector>

#include "stria/status.hpp"

namespace stria::storage {

/// Returns the numbers of the servers that are up and take new files in the store of `path`, in
/// their order; empty where it lies in none.
Result<std::vector<int>> servers_for_new_files(const std::string& path);
/// Returns the numbers of those of them that are on this machine, where others are not; else empty.
/// On several ranks of a machine they are the same.
Result<std::vector<int>> servers_on_this_machine(const std::string& path);
/// Returns the numbers of the servers that have bytes of the file, by its stripes; empty where it
/// lies in no store.
Result<std::vector<int>> servers_of_file(const std::string& path);

}  // namespace stria::storage
