// Describes what a file that grows has: read by rank 0 when it is opened, and told to all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "datatype/pack/pack.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/checksums/seal.hpp"
#include "file/define/catalog.hpp"
#include "storage/driver.hpp"

namespace stria::file {

struct OldContent {
  bool exists = false;  ///< false: the file is new
  Format format = Format::kHdf5;
  int64_t end = 0;  ///< everything new lies behind it
  int64_t left_behind_bytes = 0;
  Catalog catalog;
  ChecksumIndex checksums;

  // Rank 0 alone has this.
  std::unique_ptr<container::Growth> growth;
  ChunkSums chunk_sums;
  std::vector<SealedPart> sealed;                  ///< metadata that the next seal guards too
  std::map<std::string, ValueRange> value_ranges;  ///< those of datasets that can get longer

  /// Returns how many of the paths of `checksums` stay; the others are of tables that are made
  /// anew.
  size_t kept_path_count() const;
};

/// Reads, on rank 0, what the file holds already. kUnsupported when the file can't grow; kCorrupted
/// when its checksums or metadata are damaged, so that nobody could tell afterwards.
Result<OldContent> read_old_content(storage::File& file);
/// Finds the range of values that a dataset says it has; false where it says nothing.
Result<bool> read_value_range(const container::Reader& reader, const std::string& path, ValueRange& range);
/// Returns what the other ranks must know of it.
std::vector<std::byte> encode_old_content(const OldContent& old);
/// Reads a message of encode_old_content().
Result<OldContent> decode_old_content(std::span<const std::byte> message);

}  // namespace stria::file
