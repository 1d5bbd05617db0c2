#include "container/hdf5/copy/plain_headers.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "container/hdf5/copy/header_block.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kContinuationBytes = 16;

/// Describes messages of a block that lie one behind another, with their heads.
struct Messages {
  size_t begin = 0;
  size_t end = 0;
  size_t layout = 0;  ///< where the layout's head is
  size_t size() const { return end - begin; }
};

/// Finds the layout and a neighbour in a block of version 2, if both make enough room.
std::optional<Messages> find_room(const HeaderBlock& block, const std::vector<MessagePlace>& messages) {
  const size_t least = block.head_bytes + kContinuationBytes;
  const auto fits = [&](size_t bytes) { return bytes == least || bytes >= least + block.head_bytes; };
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].type != static_cast<int64_t>(Message::kLayout)) {
      continue;
    }
    if (i > 0 && fits(messages[i].end - messages[i - 1].at)) {
      return Messages{messages[i - 1].at, messages[i].end, messages[i].at};
    }
    if (i + 1 < messages.size() && fits(messages[i + 1].end - messages[i].at)) {
      return Messages{messages[i].at, messages[i + 1].end, messages[i].at};
    }
  }
  return std::nullopt;
}

void put_head(Encoder& to, int64_t type, size_t bytes, size_t head_bytes) {
  to.number(type, 1).number(static_cast<int64_t>(bytes), 2).number(0, 1).zeros(head_bytes - 4);
}

}  // namespace

Status make_plain(OverlaidFile& file, const PlainHeader& plain) {
  STRIA_ASSIGN_OR_RETURN(HeaderBlock block, read_first_block(file, plain.header));
  STRIA_ASSIGN_OR_RETURN(const auto messages, messages_of(block));
  const auto room = block.is_v2 ? find_room(block, messages) : std::nullopt;
  if (!room) {
    return Status(ErrorCode::kUnsupported, "another program has changed its header, so that it can't become a plain dataset");
  }
  const auto all = std::span<const std::byte>(block.bytes);
  Encoder layout;
  put_contiguous_layout(layout, plain.data.begin, plain.data.size());
  Encoder added;
  added.text("OCHK");
  const size_t layout_end =
      room->layout + block.head_bytes + static_cast<size_t>(Decoder(all.subspan(room->layout + 1)).number(2));
  added.bytes(all.subspan(room->begin, room->layout - room->begin));
  put_head(added, static_cast<int64_t>(Message::kLayout), layout.size(), block.head_bytes);
  added.bytes(layout.view()).bytes(all.subspan(layout_end, room->end - layout_end)).checksum();
  Encoder changed;
  changed.bytes(all.first(room->begin));
  put_head(changed, kContinuation, kContinuationBytes, block.head_bytes);
  changed.number(plain.block, 8).number(static_cast<int64_t>(added.size()), 8);
  const size_t left = room->size() - block.head_bytes - kContinuationBytes;
  if (left > 0) {
    put_head(changed, 0, left - block.head_bytes, block.head_bytes);
    changed.zeros(left - block.head_bytes);
  }
  changed.bytes(all.subspan(room->end, block.end() - room->end)).checksum();
  file.put(plain.header, changed.take());
  file.put(plain.block, added.take());
  return Status();
}

}  // namespace stria::container::h5
