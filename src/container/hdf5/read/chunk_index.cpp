#include "container/hdf5/read/chunk_index.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_range.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/hdf5/chunk_tree.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kHeaderBytesMax = 16 << 20;  // all blocks of an object header
constexpr int64_t kMostMessages = 100000;
constexpr int64_t kLayoutMessage = 0x08;
constexpr int64_t kContinuationMessage = 0x10;

Status corrupted(const std::string& what) {
  return Status(ErrorCode::kCorrupted, what);
}

Result<std::vector<std::byte>> read_bytes(const MetadataSource& source, int64_t address, int64_t bytes) {
  const int64_t end = source.file.file_bytes() - source.base;
  if (address < 0 || bytes < 0 || address > end || bytes > end - address) {
    return corrupted("an address lies outside of the file");
  }
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  STRIA_RETURN_IF_ERROR(source.file.read(H5FD_MEM_OHDR, source.base + address, bytes, content.data()));
  return content;
}

/// Little-endian numbers one behind another. What is missing reads as 0, and well() is false.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}
  int64_t number(size_t bytes) {
    uint64_t value = 0;
    const auto taken = take(bytes);
    for (size_t i = taken.size(); i-- > 0;) {
      value = value << 8 | static_cast<uint64_t>(taken[i]);
    }
    return static_cast<int64_t>(value);
  }
  std::span<const std::byte> take(size_t bytes) {
    well_ = well_ && bytes <= rest_.size();
    const auto taken = well_ ? rest_.first(bytes) : std::span<const std::byte>();
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  bool is(std::string_view text) {
    const auto taken = take(text.size());
    return taken.size() == text.size() && std::memcmp(taken.data(), text.data(), text.size()) == 0;
  }
  size_t left() const { return rest_.size(); }
  bool well() const { return well_; }

 private:
  std::span<const std::byte> rest_;
  bool well_ = true;
};

/// The messages of an object header, of either version, block by block.
class HeaderWalk {
 public:
  explicit HeaderWalk(const MetadataSource& source) : source_(source) {}

  /// The content of the layout message; empty when there is none.
  Result<std::vector<std::byte>> find_layout(int64_t address);

 private:
  struct Block {
    int64_t address = 0;
    int64_t bytes = 0;
  };
  Status enter(int64_t address);
  Status look_through(std::span<const std::byte> messages);

  const MetadataSource& source_;
  bool is_v2_ = false;
  size_t order_bytes_ = 0;  // in each message of version 2
  std::deque<Block> blocks_;
  std::vector<std::byte> layout_;
  int64_t seen_bytes_ = 0;
  int64_t seen_messages_ = 0;
};

// The head, which says where the first block is.
Status HeaderWalk::enter(int64_t address) {
  constexpr int64_t kHeadBytes = 16;
  constexpr int64_t kHeadBytesV2 = 6;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, kHeadBytes));
  Decoder decoder(head);
  is_v2_ = decoder.is("OHDR");
  if (!is_v2_) {
    Decoder v1(head);
    const bool known = v1.number(1) == 1;
    v1.take(7);
    blocks_.push_back({address + kHeadBytes, v1.number(4)});
    return known ? Status() : corrupted("an object header of an unknown version");
  }
  const bool known = decoder.number(1) == 2;
  const int64_t flags = decoder.number(1);
  const int64_t before = kHeadBytesV2 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
  const int64_t size_bytes = int64_t{1} << (flags & 3);
  order_bytes_ = (flags & 0x04) != 0 ? 2 : 0;
  STRIA_ASSIGN_OR_RETURN(const auto size, read_bytes(source_, address + before, size_bytes));
  blocks_.push_back({address + before + size_bytes, Decoder(size).number(static_cast<size_t>(size_bytes))});
  return known ? Status() : corrupted("an object header of an unknown version");
}

Status HeaderWalk::look_through(std::span<const std::byte> messages) {
  const size_t head_bytes = is_v2_ ? 4 + order_bytes_ : 8;
  Decoder decoder(messages);
  while (decoder.left() >= head_bytes) {
    const int64_t type = decoder.number(is_v2_ ? 1 : 2);
    const int64_t bytes = decoder.number(2);
    decoder.take(head_bytes - (is_v2_ ? 3 : 4));
    const auto content = decoder.take(static_cast<size_t>(bytes));
    if (!decoder.well() || ++seen_messages_ > kMostMessages) {
      return corrupted("an object header is damaged");
    }
    if (type == kLayoutMessage) {
      layout_.assign(content.begin(), content.end());
    } else if (type == kContinuationMessage) {
      Decoder place(content);
      const int64_t address = place.number(8);
      const int64_t size = place.number(8);
      // A block of version 2 has a signature before and a sum behind the messages.
      blocks_.push_back(is_v2_ ? Block{address + 4, size - 8} : Block{address, size});
    }
  }
  return Status();
}

Result<std::vector<std::byte>> HeaderWalk::find_layout(int64_t address) {
  STRIA_RETURN_IF_ERROR(enter(address));
  for (; !blocks_.empty() && layout_.empty(); blocks_.pop_front()) {
    const Block block = blocks_.front();
    seen_bytes_ += std::max<int64_t>(block.bytes, 0);
    if (block.bytes < 0 || seen_bytes_ > kHeaderBytesMax) {
      return corrupted("an object header is damaged");
    }
    STRIA_ASSIGN_OR_RETURN(const auto messages, read_bytes(source_, block.address, block.bytes));
    STRIA_RETURN_IF_ERROR(look_through(messages));
  }
  return std::move(layout_);
}

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
  STRIA_ASSIGN_OR_RETURN(const auto layout, HeaderWalk(source).find_layout(header_address));
  Decoder decoder(layout);
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
