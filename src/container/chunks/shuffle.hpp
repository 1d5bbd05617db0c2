// Shuffling: the first bytes of all elements, then the second bytes, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stria::container {

/// Puts `in` into `out` of the same size. Bytes behind the last whole element stay where they are.
void shuffle(std::span<const std::byte> in, std::span<std::byte> out, int64_t element_bytes);
/// Undoes it.
void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, int64_t element_bytes);

}  // namespace stria::container
