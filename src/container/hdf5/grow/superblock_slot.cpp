#include "container/hdf5/grow/superblock_slot.hpp"

#include <algorithm>
#include <string>

#include "container/hdf5/form/format.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kSlotAddressBytes = 8;

Status unable_to_grow(const std::string& why) {
  return Status(ErrorCode::kUnsupported, "this file can't grow: " + why);
}

int64_t number_at(std::span<const std::byte> bytes, size_t at) {
  return Decoder(bytes.subspan(at)).number(kSlotAddressBytes);
}

void put(std::vector<std::byte>& bytes, size_t at, int64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bytes[at + i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
  }
}

}  // namespace

Result<SuperblockSlot> SuperblockSlot::decode(std::span<const std::byte> file_begin) {
  constexpr int64_t kUsualSizes = 0x0808;  // the sizes of addresses and of lengths
  constexpr int64_t kLeafLinks = 4;        // a half of what a leaf of names holds
  constexpr int64_t kNodeChildren = 16;    // those of a node
  constexpr int64_t kChunkChildren = 32;   // those of a node of chunks
  Decoder decoder(file_begin);
  if (!decoder.is(kSignature)) {
    return unable_to_grow("its content doesn't begin at its first byte");
  }
  SuperblockSlot slot;
  const int64_t version = decoder.number(1);
  size_t size = 0;
  int64_t base = 0;
  int64_t unused = kNowhere;  // what it could name besides
  bool is_usual = true;
  if (version == 2 || version == 3) {
    is_usual = decoder.number(2) == kUsualSizes;
    if (decoder.number(1) != 0) {
      return unable_to_grow("another program writes to it, or died while it did (h5clear takes the mark away)");
    }
    base = decoder.number(8);
    unused = decoder.number(8);
    slot.end_at_ = 28;
    slot.root_at_ = 36;
    slot.has_sum_ = true;
    size = static_cast<size_t>(kSuperblockBytes);
  } else if (version == 0 || version == 1) {
    decoder.take(4);
    is_usual = decoder.number(2) == kUsualSizes;
    decoder.take(1);
    const int64_t leaf_links = decoder.number(2);
    is_usual = is_usual && leaf_links == kLeafLinks;
    const int64_t node_children = decoder.number(2);
    is_usual = is_usual && node_children == kNodeChildren;
    decoder.take(4);
    is_usual = (version == 0 || decoder.number(4) == kChunkChildren) && is_usual;
    const size_t before = file_begin.size() - decoder.left();
    base = decoder.number(8);
    decoder.take(8);
    slot.end_at_ = before + 16;
    decoder.take(8);
    unused = decoder.number(8);
    slot.root_at_ = before + 40;
    slot.cached_at_ = before + 48;
    size = before + 72;
  } else {
    return unable_to_grow("it has a superblock of version " + std::to_string(version));
  }
  if (file_begin.size() < size) {
    return Status(ErrorCode::kCorrupted, "the file is cut short in its superblock");
  }
  if (!is_usual || base != 0 || unused != kNowhere) {
    return unable_to_grow("its superblock has another base, other sizes or an extension");
  }
  slot.bytes_.assign(file_begin.begin(), file_begin.begin() + static_cast<std::ptrdiff_t>(size));
  if (slot.has_sum_ &&
      Decoder(std::span(slot.bytes_).subspan(size - 4)).number(4) != int64_t{lookup3(std::span(slot.bytes_).first(size - 4))}) {
    return Status(ErrorCode::kCorrupted, "the superblock is damaged");
  }
  return slot;
}

int64_t SuperblockSlot::file_bytes() const {
  return number_at(bytes_, end_at_);
}

int64_t SuperblockSlot::root_address() const {
  return number_at(bytes_, root_at_);
}

std::vector<std::byte> SuperblockSlot::encode(int64_t file_bytes, int64_t root_address) const {
  std::vector<std::byte> bytes = bytes_;
  put(bytes, end_at_, file_bytes, kSlotAddressBytes);
  put(bytes, root_at_, root_address, kSlotAddressBytes);
  if (has_sum_) {
    put(bytes, bytes.size() - 4, lookup3(std::span(bytes).first(bytes.size() - 4)), 4);
  } else {
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(cached_at_), bytes.end(), std::byte{0});
  }
  return bytes;
}

}  // namespace stria::container::h5
