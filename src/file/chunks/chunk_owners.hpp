// Finds which chunks several ranks have parts of, and which of the ranks assembles each.
//
// Problem: any rank may put any part of a chunk, and nobody knows who else did.
// Method: the chunks of the file are divided evenly among the ranks. Each rank tells the one in
// charge of a chunk that it has a part of it; that one answers where there are several.
// Cost: two sparse exchanges of ranges of chunks.
#pragma once

#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Ranges of chunks, numbered through all datasets of a file.
using ChunkRanges = std::vector<ByteRange>;

/// Chunks that the same ranks, two or more, have parts of.
struct SharedChunks {
  ByteRange chunks;
  std::vector<int> ranks;  ///< ascending

  /// Returns the rank that assembles a chunk: they take turns.
  int owner(int64_t chunk) const { return ranks[static_cast<size_t>(chunk) % ranks.size()]; }
};

/// Finds the shared ones among `mine`, ascending, of `chunk_count` in all. \pre `mine` is
/// ascending. Collective: yes, the error is agreed on.
Result<std::vector<SharedChunks>> find_shared_chunks(Comm& comm, const ChunkRanges& mine, int64_t chunk_count);

/// Returns the rank that assembles a chunk of these; -1 for others.
int owner_of(const std::vector<SharedChunks>& shared, int64_t chunk);

/// Puts ranges in order and joins those that meet.
void tidy(ChunkRanges& ranges);

}  // namespace stria::file
