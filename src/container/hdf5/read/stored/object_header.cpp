#include "container/hdf5/read/stored/object_header.hpp"

#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "container/corrupted.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kHeaderBytesMax = 16 << 20;  // all blocks of an object header
constexpr int64_t kMostMessages = 100000;
constexpr int64_t kNothing = 0x00;
constexpr int64_t kContinuationMessage = 0x10;
constexpr int64_t kReferenceCount = 0x16;

/// Goes through a header block by block.
class HeaderWalk {
 public:
  explicit HeaderWalk(const MetadataSource& source) : source_(source) {}
  Result<ObjectMessages> read(int64_t address);

 private:
  struct Block {
    int64_t address = 0;
    int64_t bytes = 0;
  };
  Status enter(int64_t address);
  Status look_through(std::span<const std::byte> messages);
  void keep(HeaderMessage message);

  const MetadataSource& source_;
  bool is_v2_ = false;
  std::deque<Block> blocks_;
  ObjectMessages found_;
  int64_t seen_bytes_ = 0;
  int64_t seen_messages_ = 0;
};

// Reads the head, which says where the first block is.
Status HeaderWalk::enter(int64_t address) {
  constexpr int64_t kHeadBytes = 16;
  constexpr int64_t kHeadBytesV2 = 6;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, kHeadBytes));
  Decoder decoder(head);
  is_v2_ = decoder.is("OHDR");
  if (!is_v2_) {
    Decoder v1(head);
    const bool known = v1.number(1) == 1;
    v1.take(3);
    found_.name_count = v1.number(4);
    blocks_.push_back({address + kHeadBytes, v1.number(4)});
    return known ? Status() : corrupted("an object header of an unknown version");
  }
  const bool known = decoder.number(1) == 2;
  const int64_t flags = decoder.number(1);
  const int64_t before = kHeadBytesV2 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
  const int64_t size_bytes = int64_t{1} << (flags & 3);
  found_.orders_attributes = (flags & 0x04) != 0;
  STRIA_ASSIGN_OR_RETURN(const auto size, read_bytes(source_, address + before, size_bytes));
  blocks_.push_back({address + before + size_bytes, Decoder(size).number(static_cast<size_t>(size_bytes))});
  return known ? Status() : corrupted("an object header of an unknown version");
}

void HeaderWalk::keep(HeaderMessage message) {
  Decoder content(message.content);
  if (message.type == kContinuationMessage) {
    const int64_t address = content.number(static_cast<size_t>(source_.address_bytes));
    const int64_t size = content.number(static_cast<size_t>(source_.length_bytes));
    // A block of version 2 has a signature before and a sum behind the messages.
    blocks_.push_back(is_v2_ ? Block{address + 4, size - 8} : Block{address, size});
  } else if (message.type == kReferenceCount) {
    content.take(1);
    found_.name_count = content.number(4);
    found_.messages.push_back(std::move(message));
  } else if (message.type != kNothing) {
    found_.messages.push_back(std::move(message));
  }
}

Status HeaderWalk::look_through(std::span<const std::byte> messages) {
  const size_t order_bytes = found_.orders_attributes ? 2 : 0;
  const size_t head_bytes = is_v2_ ? 4 + order_bytes : 8;
  Decoder decoder(messages);
  while (decoder.left() >= head_bytes) {
    HeaderMessage message;
    message.type = decoder.number(is_v2_ ? 1 : 2);
    const int64_t bytes = decoder.number(2);
    message.flags = decoder.number(1);
    decoder.take(is_v2_ ? 0 : 3);
    message.order = decoder.number(is_v2_ ? order_bytes : 0);
    const auto content = decoder.take(static_cast<size_t>(bytes));
    if (!decoder.well() || ++seen_messages_ > kMostMessages) {
      return corrupted("an object header is damaged");
    }
    message.content.assign(content.begin(), content.end());
    keep(std::move(message));
  }
  return Status();
}

Result<ObjectMessages> HeaderWalk::read(int64_t address) {
  STRIA_RETURN_IF_ERROR(enter(address));
  for (; !blocks_.empty(); blocks_.pop_front()) {
    const Block block = blocks_.front();
    seen_bytes_ += std::max<int64_t>(block.bytes, 0);
    if (block.bytes < 0 || seen_bytes_ > kHeaderBytesMax) {
      return corrupted("an object header is damaged");
    }
    STRIA_ASSIGN_OR_RETURN(const auto messages, read_bytes(source_, block.address, block.bytes));
    const int64_t begin = source_.base + (found_.blocks.empty() ? address : block.address - (is_v2_ ? 4 : 0));
    // A block of version 2 ends with its checksum.
    found_.blocks.push_back({begin, source_.base + block.address + block.bytes + (is_v2_ ? 4 : 0)});
    STRIA_RETURN_IF_ERROR(look_through(messages));
  }
  return std::move(found_);
}

}  // namespace

Result<std::vector<std::byte>> read_bytes(const MetadataSource& source, int64_t address, int64_t bytes) {
  const int64_t end = source.file.file_bytes() - source.base;
  if (address < 0 || bytes < 0 || address > end || bytes > end - address) {
    return corrupted("an address lies outside of the file");
  }
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  STRIA_RETURN_IF_ERROR(source.file.read(H5FD_MEM_OHDR, source.base + address, bytes, content.data()));
  return content;
}

Result<ObjectMessages> read_object_header(const MetadataSource& source, int64_t address) {
  return HeaderWalk(source).read(address);
}

}  // namespace stria::container::h5
