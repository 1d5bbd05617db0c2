// A file's header object: what all handles of all programs must agree on.
#pragma once

#include <cstdint>
#include <string>

#include "storage/rados/pool.hpp"

namespace stria::storage {

struct Header {
  int64_t object_bytes = 0;  ///< how much of the file an object holds
  int64_t server_count = 1;  ///< when the file was made
  int64_t size_bytes = 0;
  /// No object of this number, or of a higher one, has ever been written. Only grows.
  int64_t reach = 0;
  std::string gone;  ///< the directory in which the file had its last name; empty while it has one
};

/// \returns 0 or an errno value
int create_header(const Pool& pool, uint64_t file, const Header& header);
/// kNotFound when the file has gone.
Result<Header> read_header(const Pool& pool, uint64_t file);
/// Makes the size, or the reach, at least so much. Writers on all nodes may do so at once.
Status raise_size(const Pool& pool, uint64_t file, int64_t bytes);
Status raise_reach(const Pool& pool, uint64_t file, int64_t objects);
/// Sets the size, also to less.
Status set_size(const Pool& pool, uint64_t file, int64_t bytes);
Status mark_gone(const Pool& pool, uint64_t file, const std::string& directory);

/// Makes the file's bytes from `bytes` on zeros, in all objects below header.reach.
Status cut_data(const Pool& pool, uint64_t file, const Header& header, int64_t bytes);
/// Removes all objects of a file that no name and no handle is left of.
Status remove_objects(const Pool& pool, uint64_t file);

}  // namespace stria::storage
