// The name-value lists of FLASH files: compounds whose byte layout readers expect.
#pragma once

#include "format/flash_file.hpp"

namespace stria::flash {

/// Makes the scalars and runtime parameters. Empty lists are left out.
void put_lists(File& file, const ScalarLists& lists);

/// Says what a file says of its making: names and texts.
struct InfoField {
  const char* name;
  int64_t bytes;  ///< in HDF5
  std::string value;
};
std::vector<InfoField> info_fields(const Origin& origin);

/// Makes the compound "sim info", with the file format version.
void put_sim_info(File& file, int format_version, const Origin& origin);

/// Reads the lists that the file has. Collective: yes.
ScalarLists get_lists(File& file);

/// Returns the value of a name, or null.
template <typename Value>
const Value* find_value(const std::vector<std::pair<std::string, Value>>& list, const std::string& name) {
  for (const auto& entry : list) {
    if (entry.first == name) {
      return &entry.second;
    }
  }
  return nullptr;
}

}  // namespace stria::flash
