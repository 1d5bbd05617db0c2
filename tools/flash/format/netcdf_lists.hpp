// The name-value lists of FLASH files in netCDF: attributes of two variables and of the file.
#pragma once

#include "format/flash_file.hpp"

namespace stria::flash {

inline constexpr const char* kScalarsVariable = "scalars";
inline constexpr const char* kParametersVariable = "runtime_parameters";

/// Makes all lists, the file's description of its making, and the names of the variables.
void put_netcdf_lists(File& file, int format_version, const ScalarLists& lists, const std::vector<std::string>& names);

/// Reads the lists that the file has. Collective: yes.
ScalarLists get_netcdf_lists(File& file);
std::vector<std::string> get_netcdf_names(File& file);

}  // namespace stria::flash
