// Describes what those who decode a file's bytes answer where these can't be.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::container {

inline Status corrupted(const std::string& what) {
  return Status(ErrorCode::kCorrupted, what);
}

}  // namespace stria::container
