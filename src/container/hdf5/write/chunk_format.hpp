// The bytes of an HDF5 file that say where the chunks of a dataset are, and what they
// have passed.
#pragma once

#include <cstdint>
#include <span>

#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/write/image_space.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Writes a data layout message, version 3 (IV.A.2.i): chunked, with an index at `tree_address`.
void put_chunked_layout(Encoder& to, int64_t tree_address, std::span<const int64_t> chunk_dims, int64_t element_bytes);
/// Writes a filter pipeline message, version 2 (IV.A.2.l).
void put_filter_pipeline(Encoder& to, const DatasetSpec& spec);

/// Gives the index of chunks its place, a B-tree of version 1 (III.A.1), made at once from the
/// sorted chunks. Returns its address, kNowhere without chunks. \pre numbers increase
Result<int64_t> make_chunk_tree(const ChunkGrid& grid, std::span<const StoredChunk> chunks, ImageSpace& space);

}  // namespace stria::container::h5
