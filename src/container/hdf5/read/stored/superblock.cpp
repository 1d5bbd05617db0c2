#include "container/hdf5/read/stored/superblock.hpp"

#include <algorithm>
#include <array>

#include "container/hdf5/form/format.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kLeastBytes = 48;
constexpr int64_t kMostPrefixBytes = 256;
constexpr int64_t kCachedTree = 1;

bool is_size(int64_t bytes) {
  return bytes == 2 || bytes == 4 || bytes == 8;
}

// Decodes versions 0 and 1.
void decode_old(Decoder& decoder, int64_t version, Superblock& found) {
  decoder.take(4);  // versions of what lies elsewhere
  found.address_bytes = decoder.number(1);
  found.length_bytes = decoder.number(1);
  decoder.take(1);
  found.symbols_max = 2 * decoder.number(2);
  found.group_children_max = 2 * decoder.number(2);
  decoder.take(version == 1 ? 8 : 4);
  decoder.take(static_cast<size_t>(4 * found.address_bytes));  // base, free space, end, driver
  decoder.take(static_cast<size_t>(found.length_bytes + found.address_bytes));
  const int64_t cached = decoder.number(4);
  decoder.take(4);
  const int64_t tree = decode_address(decoder, found.address_bytes);
  const int64_t heap = decode_address(decoder, found.address_bytes);
  if (cached == kCachedTree) {
    found.root = CachedGroup{.tree_address = tree, .heap_address = heap};
  }
}

}  // namespace

int64_t decode_address(Decoder& decoder, int64_t address_bytes) {
  const int64_t address = decoder.number(static_cast<size_t>(address_bytes));
  const bool none = address_bytes < 8 && address == (int64_t{1} << 8 * address_bytes) - 1;
  return none ? -1 : address;
}

Result<Superblock> read_superblock(StorageFile& file) {
  constexpr int64_t kFirstPlace = 512;
  for (int64_t at = 0; at <= file.file_bytes() - kLeastBytes; at = at == 0 ? kFirstPlace : 2 * at) {
    std::array<std::byte, kMostPrefixBytes> bytes{};
    const int64_t there = std::min(kMostPrefixBytes, file.file_bytes() - at);
    STRIA_RETURN_IF_ERROR(file.read(H5FD_MEM_SUPER, at, there, bytes.data()));
    Decoder decoder(bytes);
    if (!decoder.is(kSignature)) {
      continue;
    }
    Superblock found;
    found.base = at;
    const int64_t version = decoder.number(1);
    if (version <= 1) {
      decode_old(decoder, version, found);
    } else {
      found.address_bytes = decoder.number(1);
      found.length_bytes = decoder.number(1);
      decoder.take(1);
      decode_address(decoder, found.address_bytes);  // the base
      found.extension = decode_address(decoder, found.address_bytes);
    }
    const bool is_known = version <= 3 && is_size(found.address_bytes) && is_size(found.length_bytes);
    return is_known ? Result<Superblock>(found) : Status(ErrorCode::kFormat, "a superblock of an unknown version");
  }
  return Status(ErrorCode::kFormat, "no superblock");
}

}  // namespace stria::container::h5
