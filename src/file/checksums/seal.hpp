// Describes what a file says about its checksums as a whole: the dataset ".stria/seal".
//
// Problem: a lost sum looks like one that was never there. A table of sums that is zeroed looks
// like rows that were never put. And in HDF5 the B-tree of a large group has no checksum.
// Method: for each row table the seal holds the number of sums and a sum over them; for the
// metadata it holds one sum of all their bytes. The seal has a sum too. Files whose list of
// datasets doesn't name a seal are older than the seal.
// Cost: one hash of the metadata.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "file/checksums/row_tables.hpp"
#include "stria/status.hpp"

namespace stria::file {

inline constexpr const char* kSealPath = ".stria/seal";

/// A stretch of the metadata, without contents that have sums of their own.
struct SealedPart {
  ByteRange range;
  uint64_t sum = 0;
};

struct Seal {
  /// Another one was written by another program, which has changed the metadata.
  uint64_t superblock_sum = 0;
  uint64_t metadata_sum = 0;  ///< the sum of sealed_ranges()
  int64_t head_bytes = 0;     ///< metadata lie in [0, head_bytes) …
  int64_t tail_begin = 0;     ///< … and, unless this is 0, in [tail_begin, file_bytes)
  int64_t file_bytes = 0;
  std::vector<TableSeal> tables;  ///< one per row table
  /// What a file that has grown has in place of metadata_sum and of where the metadata lie.
  std::vector<SealedPart> parts{};
};

/// Returns the sum of bytes as it is stored, never 0.
uint64_t sum_of(std::span<const std::byte> data);
/// Puts the sum of `content` before it.
std::vector<std::byte> with_own_sum(std::span<const std::byte> content);
/// Returns the content behind its own sum. kCorrupted names the dataset `path`.
Result<std::span<const std::byte>> without_own_sum(std::span<const std::byte> summed, const std::string& path);

/// Returns how many numbers of 8 bytes a seal takes; `part_count` 0: that of a new file.
int64_t seal_numbers(size_t table_count, size_t part_count);
std::vector<std::byte> encode_seal(const Seal& seal);
/// kCorrupted when its own sum is wrong, kFormat when it makes no sense.
Result<Seal> decode_seal(std::span<const std::byte> content);

/// Returns the metadata of the file in order, without the contents of `tables` that lie within
/// them, which have sums of their own.
std::vector<ByteRange> sealed_ranges(const Seal& seal, std::vector<ByteRange> tables);
/// Returns the same for metadata that are one stretch, `part`: what lies in it between the contents
/// of `tables`.
std::vector<ByteRange> between_tables(ByteRange part, std::vector<ByteRange> tables);

}  // namespace stria::file
