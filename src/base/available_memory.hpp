// Describes how much memory the machine has to spare.
#pragma once

#include <cstdint>

namespace stria {

/// Returns the bytes of memory that the system has available; the largest number when it doesn't
/// tell.
int64_t available_memory();

}  // namespace stria
