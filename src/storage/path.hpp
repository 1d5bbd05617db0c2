// The two halves of a path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stria::storage {

/// True for paths in a pool of a Ceph cluster: rados://POOL/PATH.
inline bool is_rados_path(std::string_view path) {
  return path.starts_with("rados://");
}

/// True for paths that the system knows nothing of: stria://… and rados://….
bool is_remote_path(std::string_view path);

/// Returns the directory that holds the last component of `path`: "." when `path` names no
/// directory, "/" for a file in the root.
inline std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns the same file named from the root, so that the name stays right when the working
/// directory changes. `path` itself where the system doesn't tell the working directory.
std::string absolute_path(const std::string& path);

/// Returns a whole path as the name of one file: all but letters, digits, '.', '-' and '_' as
/// "%2F".
std::string path_as_name(std::string_view path);
/// Returns the path that has this name: one from the root, or a remote one. Nothing for other
/// names.
std::optional<std::string> path_of_name(std::string_view name);

/// Returns the last component of `path`.
inline std::string file_name_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace stria::storage
