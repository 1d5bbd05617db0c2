// The value of every byte of every array: what is written, and what a reader must find.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::bench {

/// Says which array of which file is meant, in which round: bytes of different ones differ almost
/// everywhere.
struct ValueKey {
  int64_t file = 0;  ///< the rank whose file it is, or 0
  size_t array = 0;
  int round = 0;
};

/// Returns the byte at `offset` of the array.
std::byte value_at(const ValueKey& key, int64_t offset);

/// Writes the values of [offset, offset + bytes) of the array to `target`.
void fill_values(const ValueKey& key, int64_t offset, int64_t bytes, std::byte* target);

/// Returns the first byte that differs in `found`, as an offset in the array; -1: none.
int64_t first_difference(const ValueKey& key, int64_t offset, int64_t bytes, const std::byte* found);

}  // namespace stria::bench
