// Paths rados://POOL/DIRECTORY/NAME, taken apart, and the names of the objects that a file consists
// of (docs/formats/rados.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stria/status.hpp"

namespace stria::storage {

struct RadosPath {
  std::string pool;
  std::string directory;  ///< "/a/b", or "/" for the pool's root
  std::string name;       ///< the last component; empty: the path is the root itself

  /// kInvalidArgument for paths that no file can have: without a pool, with "..", too long.
  static Result<RadosPath> parse(std::string_view text);
  /// Returns the directory that the path itself names.
  std::string as_directory() const;
};

/// Returns 16 hexadecimal digits: numbers that are compared as text keep their order.
std::string hexadecimal(uint64_t number);
/// \returns 0 for anything that isn't hexadecimal
uint64_t from_hexadecimal(std::string_view text);

std::string directory_object(const std::string& directory);
std::string header_object(uint64_t file);
std::string locks_object(uint64_t file);
std::string data_object(uint64_t file, int64_t index);

}  // namespace stria::storage
