// The names of a file's parts: NAME.part-GENERATION-NUMBER, beside the file NAME.
//
// Each commit of a name makes parts of another generation, so that those of the file that has the
// name stay as they are until the new file replaces it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file {

std::string part_name(const std::string& file_name, int64_t generation, int part);
/// Returns the path of the file of this name beside the one at `path`.
std::string path_beside(const std::string& path, const std::string& name);
/// Returns the generation of the part of `file_name` that has this name; nothing where it isn't
/// one.
std::optional<int64_t> generation_of(const std::string& file_name, const std::string& name);

struct PartName {
  std::string name;
  int64_t generation = 0;
};
/// Lists the parts of all generations that lie beside `path`, whether or not a file has them.
Result<std::vector<PartName>> list_parts(storage::Driver& driver, const std::string& path);
/// Returns the name of a file's parity (docs/formats/parity.md), its generation, and those of all
/// generations that lie beside `path`.
std::string parity_name(const std::string& file_name, int64_t generation, int number);
std::optional<int64_t> parity_generation_of(const std::string& file_name, const std::string& name);
Result<std::vector<PartName>> list_parity(storage::Driver& driver, const std::string& path);
/// Removes a file, and then its parts and parity. Parts stay where the directory can't be listed.
Status remove_with_parts(storage::Driver& driver, const std::string& path);

}  // namespace stria::file
