// Names of objects within a file.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::container::h5 {

/// Checks that `path` can name an object and returns it without slashes at its ends; "" for the root group.
/// kInvalidArgument for empty or "." parts and embedded NULs.
Result<std::string> normal_path(const std::string& path);

}  // namespace stria::container::h5
