// Holds what writing and reading the index of a dataset's chunks share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::container::h5 {

/// The numbers of the filters that the format itself defines.
inline constexpr int kDeflateFilter = 1;
inline constexpr int kShuffleFilter = 2;
inline constexpr int kFletcher32Filter = 3;
inline constexpr int kScaleOffsetFilter = 6;
/// Those that are registered for ZFP and for Zstandard.
inline constexpr int kZfpFilter = 32013;
inline constexpr int kZstdFilter = 32015;

/// The children of a node where the superblock gives no number: 2 * 32.
inline constexpr size_t kChunkTreeChildren = 64;
/// The beginning of a node, before its first key.
inline constexpr int64_t kNodeHeadBytes = 24;

/// Counts the bytes of a key: size, mask, and an index in each dimension and in the element.
inline constexpr int64_t chunk_key_bytes(size_t dimensions) {
  return 8 + 8 * (static_cast<int64_t>(dimensions) + 1);
}
inline constexpr int64_t chunk_node_bytes(size_t dimensions) {
  constexpr auto kChildren = static_cast<int64_t>(kChunkTreeChildren);
  return kNodeHeadBytes + kChildren * 8 + (kChildren + 1) * chunk_key_bytes(dimensions);
}

}  // namespace stria::container::h5
