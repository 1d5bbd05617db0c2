// The names of a file's parts: NAME.part-GENERATION-NUMBER, beside the file NAME.
//
// Each commit of a name makes parts of another generation, so that those of the file that has the
// name stay as they are until the new file replaces it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stria::file {

std::string part_name(const std::string& file_name, int64_t generation, int part);
/// The path of the file of this name beside the one at `path`.
std::string path_beside(const std::string& path, const std::string& name);
/// The generation of the part of `file_name` that has this name; nothing where it isn't one.
std::optional<int64_t> generation_of(const std::string& file_name, const std::string& name);

}  // namespace stria::file
