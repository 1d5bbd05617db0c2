#include "container/hdf5/copy/header_block.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "container/hdf5/copy/edited_superblock.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kMostBlocks = 10000;

Status cut_short(const storage::File& file) {
  return Status(ErrorCode::kCorrupted, file.path() + ": an object header is cut short");
}

}  // namespace

void HeaderBlock::renew_sum() {
  if (is_v2) {
    Encoder encoder(bytes.size());
    bytes = encoder.bytes(std::span(bytes).first(end())).checksum().take();
  }
}

Result<HeaderBlock> read_first_block(storage::File& file, int64_t offset) {
  constexpr int64_t kMostHeadBytes = 34;
  constexpr size_t kOldHeadBytes = 16;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_at(file, offset, kMostHeadBytes));
  HeaderBlock block;
  block.offset = offset;
  Decoder decoder(head);
  int64_t message_bytes = 0;
  bool is_whole = false;
  block.is_v2 = decoder.is("OHDR");
  if (block.is_v2) {
    decoder.take(1);
    const int64_t flags = decoder.number(1);
    decoder.take(((flags & 0x20) != 0 ? 16U : 0U) + ((flags & 0x10) != 0 ? 4U : 0U));
    message_bytes = decoder.number(size_t{1} << (flags & 3)) + 4;
    is_whole = decoder.well();
    block.messages_at = head.size() - decoder.left();
    block.head_bytes = (flags & 0x04) != 0 ? 6 : 4;
  } else {
    Decoder old(head);
    old.take(8);
    message_bytes = old.number(4);
    is_whole = old.well();
    block.messages_at = kOldHeadBytes;
    block.head_bytes = 8;
  }
  const int64_t bytes = static_cast<int64_t>(block.messages_at) + message_bytes;
  STRIA_ASSIGN_OR_RETURN(block.bytes, read_at(file, offset, bytes));
  if (!is_whole || static_cast<int64_t>(block.bytes.size()) != bytes || message_bytes < 4) {
    return cut_short(file);
  }
  return block;
}

Result<std::vector<MessagePlace>> messages_of(const HeaderBlock& block) {
  std::vector<MessagePlace> places;
  for (size_t at = block.messages_at; at + block.head_bytes <= block.end();) {
    Decoder decoder(std::span<const std::byte>(block.bytes).subspan(at));
    MessagePlace place{.type = decoder.number(block.is_v2 ? 1 : 2), .at = at};
    place.end = at + block.head_bytes + static_cast<size_t>(decoder.number(2));
    if (place.end > block.end()) {
      return Status(ErrorCode::kCorrupted, "an object header is damaged");
    }
    places.push_back(place);
    at = place.end;
  }
  return places;
}

Result<std::vector<HeaderBlock>> read_blocks(storage::File& file, int64_t offset, int64_t base) {
  std::vector<HeaderBlock> blocks;
  STRIA_ASSIGN_OR_RETURN(HeaderBlock first, read_first_block(file, offset));
  blocks.push_back(std::move(first));
  for (size_t i = 0; i < blocks.size() && blocks.size() < kMostBlocks; ++i) {
    STRIA_ASSIGN_OR_RETURN(const auto messages, messages_of(blocks[i]));
    for (const MessagePlace& message : messages) {
      if (message.type != kContinuation) {
        continue;
      }
      Decoder decoder(std::span<const std::byte>(blocks[i].bytes).subspan(message.at + blocks[i].head_bytes));
      HeaderBlock next{.offset = base + decoder.number(8), .bytes = {}, .is_v2 = blocks[0].is_v2};
      next.messages_at = next.is_v2 ? 4 : 0;
      next.head_bytes = blocks[0].head_bytes;
      const int64_t bytes = decoder.number(8);
      STRIA_ASSIGN_OR_RETURN(next.bytes, read_at(file, next.offset, std::clamp<int64_t>(bytes, 0, 16 << 20)));
      if (static_cast<int64_t>(next.bytes.size()) != bytes || bytes < 8) {
        return cut_short(file);
      }
      blocks.push_back(std::move(next));
    }
  }
  return blocks;
}

}  // namespace stria::container::h5
