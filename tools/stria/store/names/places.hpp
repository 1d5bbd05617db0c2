// Paths of this machine, of stores and of pools alike: what cp and mv take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stria::tool {

enum class PlaceKind { kNothing, kFile, kDirectory };

/// Returns what has that name. Throws stria::Error, kInvalidArgument for what is neither a file nor
/// a directory.
PlaceKind kind_of(const std::string& path);

/// Returns who may read, write and execute it: 9 bits. None where nothing has that name, and in a
/// pool.
std::optional<uint32_t> mode_of(const std::string& path);

/// Sets what mode_of() tells; not in a pool. Throws stria::Error.
void set_mode(const std::string& path, uint32_t mode);

/// Returns where `from` goes when it is copied or moved to `to`: into it, if `to` is a directory or
/// ends in a slash.
std::string target_of(const std::string& from, const std::string& to);

/// Returns the names in a directory, sorted.
std::vector<std::string> names_in(const std::string& directory);

/// Makes a directory of a store in one that is there. Throws stria::Error, kAlreadyExists where
/// there is something.
void make_directory(const std::string& path);

/// Makes a directory, and those that are missing above it. One that is there already will do. In a
/// pool directories come with their files.
void make_directories(const std::string& path);

/// True when `path` lies below `directory`, or is it.
bool lies_in(const std::string& path, const std::string& directory);

}  // namespace stria::tool
