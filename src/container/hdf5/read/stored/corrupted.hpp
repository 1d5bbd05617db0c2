// What the checks of a file's metadata answer.
#pragma once

#include "stria/status.hpp"

namespace stria::container::h5 {

inline Status corrupted(const char* what) {
  return Status(ErrorCode::kCorrupted, what);
}

}  // namespace stria::container::h5
