// Names in classic netCDF files.
//
// Such a file has no groups, and no name begins with a dot. The library's own tables, which are
// called ".stria/NAME" elsewhere, are the variables "stria_NAME".
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::container::netcdf {

using std::string_literals::operator""s;

inline constexpr const char* kOwnPrefix = ".stria/";
inline constexpr const char* kOwnVariablePrefix = "stria_";
inline constexpr size_t kLongestNameBytes = 256;

/// Tells whether a path within the file belongs to one of the library's own tables.
bool is_own(const std::string& path);
/// Returns the variable of a dataset. kInvalidArgument when it can't have that name, kUnsupported
/// when it is in a group. Both name the dataset.
Result<std::string> variable_of(const std::string& path);
/// Returns the dataset of a variable.
std::string path_of(const std::string& variable);

/// kInvalidArgument unless `name` can name a variable, a dimension or an attribute; `what` says in
/// the message which.
Status check_name(const std::string& what, const std::string& name);

}  // namespace stria::container::netcdf
