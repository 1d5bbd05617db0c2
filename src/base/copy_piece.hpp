// Copies of small pieces, most of which are one number.
#pragma once

#include <cstddef>
#include <cstring>

namespace stria {

/// Copies like memcpy(), 8 bytes without a call.
inline void copy_piece(void* to, const void* from, size_t bytes) {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace stria
