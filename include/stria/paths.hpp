// Paths as every part of the library takes them: of this machine, stria://SERVER/PATH in a store
// (docs/servers.md), or rados://POOL/PATH in a Ceph cluster (docs/rados.md).
#pragma once

#include <string>
#include <vector>

namespace stria {

/// True for paths stria://… and rados://…, whose directories are made with their files.
bool is_store_path(const std::string& path);

/// True when a file or directory has the name. Throws stria::Error when that can't be told: a
/// server that doesn't answer.
bool path_exists(const std::string& path);

/// Lists the names in a directory, sorted. Throws stria::Error (kNotFound).
std::vector<std::string> list_directory(const std::string& directory);

/// Returns the paths of the files that this user has staged in `place`, a value of the hint
/// stria_staging, and that have not been brought to their own places; none where it isn't there.
/// Throws stria::Error.
std::vector<std::string> list_staged(const std::string& place);

/// Removes a file, and parts that it has or had (stria_subfiles). Throws stria::Error (kNotFound).
void remove_file(const std::string& path);

}  // namespace stria
