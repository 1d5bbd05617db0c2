#include "container/hdf5/read/stored/chunk_index.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "container/chunks/filter_pipeline.hpp"
#include "container/corrupted.hpp"
#include "container/hdf5/form/chunk_tree.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kLayoutMessage = 0x08;

/// Reads the nodes of a tree, depth first.
class TreeWalk {
 public:
  TreeWalk(const MetadataSource& source, const ChunkGrid& grid) : source_(source), grid_(grid) {}
  Status node(int64_t address, std::optional<int64_t> level);
  std::vector<StoredChunk> take() { return std::move(chunks_); }

 private:
  Status leaf_entry(Decoder& key, int64_t address);

  const MetadataSource& source_;
  const ChunkGrid& grid_;
  std::vector<StoredChunk> chunks_;
};

Status TreeWalk::leaf_entry(Decoder& key, int64_t address) {
  StoredChunk chunk{.bytes = key.number(4), .skipped = static_cast<FilterMask>(key.number(4))};
  bool inside = true;
  for (size_t dim = 0; dim < grid_.chunk_dims().size(); ++dim) {
    const int64_t index = key.number(8);
    const int64_t along = index / grid_.chunk_dims()[dim];
    inside = inside && index >= 0 && index % grid_.chunk_dims()[dim] == 0 && along < grid_.chunks_along(dim);
    chunk.number = inside ? chunk.number * grid_.chunks_along(dim) + along : 0;
  }
  const int64_t end = source_.file.file_bytes() - source_.base;
  if (!inside || address < 0 || address > end || chunk.bytes > end - address) {
    return corrupted("a chunk lies outside of the dataset or of the file");
  }
  if (chunk.bytes < 1 || chunk.bytes > FilterPipeline::stored_bytes_max(grid_.chunk_bytes()) ||
      (!chunks_.empty() && chunk.number <= chunks_.back().number)) {
    return corrupted("the index of its chunks is damaged");
  }
  chunk.offset = source_.base + address;
  chunks_.push_back(chunk);
  return Status();
}

Status TreeWalk::node(int64_t address, std::optional<int64_t> level) {
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, kNodeHeadBytes));
  Decoder decoder(head);
  const bool is_node = decoder.is("TREE") && decoder.number(1) == 1;
  const int64_t own_level = decoder.number(1);
  const int64_t entries = decoder.number(2);
  const bool fits = level ? own_level == *level && entries > 0 : true;
  if (!is_node || !fits) {
    return corrupted("the index of its chunks is damaged");
  }
  const int64_t key_bytes = chunk_key_bytes(grid_.chunk_dims().size());
  STRIA_ASSIGN_OR_RETURN(const auto content, read_bytes(source_, address + kNodeHeadBytes, entries * (key_bytes + 8)));
  for (int64_t i = 0; i < entries; ++i) {
    Decoder entry(std::span<const std::byte>(content).subspan(static_cast<size_t>(i * (key_bytes + 8))));
    Decoder key(entry.take(static_cast<size_t>(key_bytes)));
    const int64_t child = entry.number(8);
    STRIA_RETURN_IF_ERROR(own_level == 0 ? leaf_entry(key, child) : node(child, own_level - 1));
  }
  return Status();
}

}  // namespace

Result<std::optional<int64_t>> find_chunk_tree(const MetadataSource& source, int64_t header_address) {
  constexpr int64_t kVersion = 3;
  constexpr int64_t kChunked = 2;
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source, header_address));
  const auto layout = std::find_if(header.messages.begin(), header.messages.end(),
                                   [](const HeaderMessage& message) { return message.type == kLayoutMessage; });
  if (layout == header.messages.end()) {
    return std::optional<int64_t>();
  }
  Decoder decoder(layout->content);
  const bool has_tree = decoder.number(1) == kVersion && decoder.number(1) == kChunked;
  decoder.take(1);
  const int64_t address = decoder.number(8);
  return has_tree && decoder.well() ? std::optional(address) : std::nullopt;
}

Result<std::vector<StoredChunk>> read_chunk_tree(const MetadataSource& source, int64_t tree_address, const ChunkGrid& grid) {
  TreeWalk walk(source, grid);
  if (tree_address >= 0) {
    STRIA_RETURN_IF_ERROR(walk.node(tree_address, std::nullopt));
  }
  return walk.take();
}

}  // namespace stria::container::h5
