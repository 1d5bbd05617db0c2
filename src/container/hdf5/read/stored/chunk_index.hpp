// Finds where the chunks of a dataset are, read from the file itself.
//
// Problem: libhdf5 1.10 tells of one chunk at a time, and walks all of the index for it.
// Method: the dataset's header names the B-tree of version 1, whose leaves are read once.
// Cost: the bytes of the tree. Indices of other kinds, which only files "for the latest format"
// have, are left to libhdf5.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Finds the address of the tree that the layout message of the object header at `header_address`
/// names; kNowhere when no chunk was written. Nothing: there is no such tree.
Result<std::optional<int64_t>> find_chunk_tree(const MetadataSource& source, int64_t header_address);

/// Reads the chunks of a tree, by increasing number, with offsets from the beginning of the file.
/// kCorrupted when the tree makes no sense.
Result<std::vector<StoredChunk>> read_chunk_tree(const MetadataSource& source, int64_t tree_address, const ChunkGrid& grid);

}  // namespace stria::container::h5
