#include "container/hdf5/write/chunk_format.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/chunks/filters/scale_offset.hpp"
#include "container/chunks/filters/zfp_header.hpp"
#include "container/hdf5/form/chunk_tree.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kTreeAlignment = 8;

/// A chunk, or a node of the tree, with the key before it.
struct ChunkChild {
  StoredChunk first;  ///< the first chunk below
  int64_t address = 0;
};

void put_key(Encoder& node, const ChunkGrid& grid, const StoredChunk& chunk) {
  node.number(chunk.bytes, 4).number(chunk.skipped, 4);
  for (const int64_t index : grid.first_index(chunk.number)) {
    node.number(index, 8);
  }
  node.zeros(8);
}

// The key behind the last chunk is greater than any chunk in each dimension.
void put_last_key(Encoder& node, const ChunkGrid& grid) {
  node.zeros(8);
  for (size_t dim = 0; dim < grid.chunk_dims().size(); ++dim) {
    node.number(grid.chunks_along(dim) * grid.chunk_dims()[dim], 8);
  }
  node.zeros(8);
}

// Makes one level of nodes over those `below`.
Result<std::vector<ChunkChild>> make_nodes(const ChunkGrid& grid, std::span<const ChunkChild> below, int level,
                                           ImageSpace& space) {
  std::vector<ChunkChild> nodes;
  for (size_t first = 0; first < below.size(); first += kChunkTreeChildren) {
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.reserve(chunk_node_bytes(grid.chunk_dims().size()), kTreeAlignment));
    nodes.push_back({below[first].first, address});
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t first = i * kChunkTreeChildren;
    const auto children = below.subspan(first, std::min(kChunkTreeChildren, below.size() - first));
    Encoder node(static_cast<size_t>(chunk_node_bytes(grid.chunk_dims().size())));
    node.text("TREE").number(1, 1).number(level, 1).number(static_cast<int64_t>(children.size()), 2);
    node.number(i > 0 ? nodes[i - 1].address : kNowhere, 8).number(i + 1 < nodes.size() ? nodes[i + 1].address : kNowhere, 8);
    for (const ChunkChild& child : children) {
      put_key(node, grid, child.first);
      node.number(child.address, 8);
    }
    if (first + children.size() < below.size()) {
      put_key(node, grid, below[first + children.size()].first);
    } else {
      put_last_key(node, grid);
    }
    space.write(nodes[i].address, node.view());
  }
  return nodes;
}

/// A filter as the pipeline message has it.
struct StoredFilter {
  int number = 0;
  std::vector<uint32_t> values;
  std::string_view name{};  // the name of one that the format doesn't define
};

void put_filter(Encoder& to, const StoredFilter& filter) {
  constexpr int64_t kMayBeSkipped = 1;
  to.number(filter.number, 2);
  if (!filter.name.empty()) {
    to.number(static_cast<int64_t>(filter.name.size()), 2);
  }
  to.number(filter.number == kFletcher32Filter ? 0 : kMayBeSkipped, 2).number(static_cast<int64_t>(filter.values.size()), 2);
  to.text(filter.name);
  for (const uint32_t value : filter.values) {
    to.number(value, 4);
  }
}

}  // namespace

void put_chunked_layout(Encoder& to, int64_t tree_address, std::span<const int64_t> chunk_dims, int64_t element_bytes) {
  constexpr int64_t kChunked = 2;
  to.number(3, 1).number(kChunked, 1).number(static_cast<int64_t>(chunk_dims.size()) + 1, 1).number(tree_address, 8);
  for (const int64_t size : chunk_dims) {
    to.number(size, 4);
  }
  to.number(element_bytes, 4);
}

void put_filter_pipeline(Encoder& to, const DatasetSpec& spec) {
  constexpr int64_t kVersion = 2;
  constexpr uint32_t kDeflateLevel = 1;
  const Filters& filters = spec.chunking->filters;
  std::vector<StoredFilter> stored;
  if (filters.scale_offset) {
    stored.push_back({kScaleOffsetFilter, scale_offset_values(spec)});
  }
  if (filters.zfp()) {
    stored.push_back({kZfpFilter, zfp_values(spec), std::string_view("H5Z-ZFP\0", 8)});
  }
  if (filters.shuffle) {
    stored.push_back({kShuffleFilter, {static_cast<uint32_t>(shuffled_bytes(spec))}});
  }
  if (filters.deflate) {
    stored.push_back({kDeflateFilter, {kDeflateLevel}});
  }
  if (filters.zstd) {
    stored.push_back({kZstdFilter, {static_cast<uint32_t>(kZstdLevel)}, std::string_view("zstd\0", 5)});
  }
  if (filters.fletcher32) {
    stored.push_back({kFletcher32Filter, {}});
  }
  to.number(kVersion, 1).number(static_cast<int64_t>(stored.size()), 1);
  for (const StoredFilter& filter : stored) {
    put_filter(to, filter);
  }
}

Result<int64_t> make_chunk_tree(const ChunkGrid& grid, std::span<const StoredChunk> chunks, ImageSpace& space) {
  STRIA_ASSERT(std::is_sorted(chunks.begin(), chunks.end(),
                              [](const StoredChunk& a, const StoredChunk& b) { return a.number < b.number; }));
  if (chunks.empty()) {
    return kNowhere;
  }
  std::vector<ChunkChild> row;
  for (const StoredChunk& chunk : chunks) {
    row.push_back({chunk, chunk.offset});
  }
  int level = 0;
  do {
    STRIA_ASSIGN_OR_RETURN(row, make_nodes(grid, row, level++, space));
  } while (row.size() > 1);
  return row[0].address;
}

}  // namespace stria::container::h5
