// Arithmetic on sizes and offsets that reports overflow instead of wrapping, because sizes come
// from users and from the network.
#pragma once

#include <cstdint>

namespace stria {

/// Sets `*result` to a + b (or a * b). Returns false, with `*result` unspecified, when that does
/// not fit into 64 bits.
[[nodiscard]] inline bool checked_add(int64_t a, int64_t b, int64_t* result) {
  return !__builtin_add_overflow(a, b, result);
}
[[nodiscard]] inline bool checked_multiply(int64_t a, int64_t b, int64_t* result) {
  return !__builtin_mul_overflow(a, b, result);
}

}  // namespace stria
