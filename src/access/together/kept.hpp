// Describes what stays from one collective operation to the next, so that each is spared the
// allocation of shared memory.
#pragma once

#include "access/together/exchange/kept_buffers.hpp"
#include "access/together/node/kept_windows.hpp"

namespace stria::access {

/// One object per open file and rank.
struct Kept {
  KeptBuffers buffers;
  KeptWindows windows;
};

}  // namespace stria::access
