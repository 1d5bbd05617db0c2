// A dataset that is cut into chunks: the cut, and what is known of each chunk in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "stria/filters.hpp"

namespace stria::container {

/// All chunks are compressed at this level of zstd: the fastest that isn't negative.
inline constexpr int kZstdLevel = 1;

/// Says how a dataset is cut, and what each chunk passes through.
struct Chunking {
  std::vector<int64_t> dims;  ///< the dims of a chunk; as many as the dataset has
  Filters filters;
  /// The bytes that shuffling takes apart, as a file has them; 0: those of a whole element, of both
  /// parts of a complex number.
  int64_t shuffled_bytes = 0;
};

/// Tells which of the dataset's filters were left out for one chunk: bit i stands for the i-th
/// filter that the dataset lists, and is set where the chunk did not pass it.
using FilterMask = uint32_t;

/// One chunk as the file has it. A chunk that the file doesn't have reads as the fill value.
struct StoredChunk {
  int64_t number = 0;  ///< in C order of the chunks
  int64_t offset = 0;
  int64_t bytes = 0;
  FilterMask skipped = 0;
};

/// Finds the chunk of this number; null where there is none. \pre they are in order
inline const StoredChunk* find_chunk(std::span<const StoredChunk> chunks, int64_t number) {
  STRIA_ASSERT(std::is_sorted(chunks.begin(), chunks.end(),
                              [](const StoredChunk& a, const StoredChunk& b) { return a.number < b.number; }));
  const auto place = std::lower_bound(chunks.begin(), chunks.end(), number,
                                      [](const StoredChunk& chunk, int64_t wanted) { return chunk.number < wanted; });
  return place != chunks.end() && place->number == number ? &*place : nullptr;
}

/// The format stores the size of a chunk in 4 bytes; larger chunks would need as much memory.
inline constexpr int64_t kChunkBytesMax = int64_t{1} << 30;

}  // namespace stria::container
