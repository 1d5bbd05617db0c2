// The sums of chunks as the file has them: the dataset ".stria/chunks".
//
// Problem: sums of rows tell whether data are right, not whether each stored byte is. Deflate
// leaves bits unused.
// Method: one XXH3-64 of each stored chunk, in the order of the index. See docs/formats/hdf5.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stria/status.hpp"

namespace stria::file {

inline constexpr const char* kChunkSumsPath = ".stria/chunks";

/// A sum for each chunk that the file has, by the path of the dataset.
using ChunkSums = std::map<std::string, std::vector<uint64_t>>;

std::vector<std::byte> encode_chunk_sums(const ChunkSums& sums);
/// kCorrupted when the content's own sum is wrong, kFormat when it makes no sense.
Result<ChunkSums> decode_chunk_sums(std::span<const std::byte> content);

}  // namespace stria::file
