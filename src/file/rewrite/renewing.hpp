// Parity for a file that has none, or of which it isn't any more.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::file {

/// Makes so many parity files of the file at `path`, and its parts, as they are now; those that
/// there are go. kCorrupted where they don't agree with their own checksums. One process.
/// \pre parities > 0
Status renew_parity(const std::string& path, int parities);

}  // namespace stria::file
