// Names of objects within a file, with "/" between groups, whatever the file's format.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::container {

/// Checks that `path` can name an object, and returns it without slashes at its ends; "" for the
/// root group. kInvalidArgument for empty or "." parts and for NULs within.
Result<std::string> normal_path(const std::string& path);

}  // namespace stria::container
