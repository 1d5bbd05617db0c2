#include "container/hdf5/form/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace stria::container::h5 {

namespace {

constexpr size_t kAddressBytes = 8;
constexpr size_t kLengthBytes = 8;
constexpr size_t kMessageSizeBytes = 2;
constexpr size_t kOrderBytes = 2;
constexpr int64_t kConstant = 0x01;   // a message that never changes
constexpr int64_t kDontShare = 0x04;  // nor moves to a shared heap

// Reads a little-endian word; bytes past the end count as zeros.
uint32_t word_at(std::span<const std::byte> key, size_t at) {
  std::array<std::byte, 4> bytes{};
  if (at < key.size()) {
    std::memcpy(bytes.data(), key.data() + at, std::min(bytes.size(), key.size() - at));
  }
  uint32_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= std::to_integer<uint32_t>(bytes[i]) << (8 * i);
  }
  return word;
}

std::array<std::byte, 8> low_first(int64_t value) {
  std::array<std::byte, 8> low;
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return low;
}

int64_t flags_of(Message type) {
  switch (type) {
    case Message::kDatatype:
    case Message::kFillValue:
    case Message::kGroupInfo:
      return kConstant;
    case Message::kAttributeInfo:
      return kDontShare;
    default:
      return 0;
  }
}

int64_t charset_of(std::string_view text) {
  return is_ascii(std::as_bytes(std::span(text.data(), text.size()))) ? kAscii : kUtf8;
}

// Returns the number of bytes that a count takes, as the exponent of a power of two.
size_t width_code(size_t value) {
  return value <= 0xff ? 0 : value <= 0xffff ? 1 : 2;
}

}  // namespace

Encoder& Encoder::number(int64_t value, size_t count) {
  const auto low = low_first(value);
  return bytes(std::span(low).first(count));
}

Encoder& Encoder::bytes(std::span<const std::byte> value) {
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  return *this;
}

Encoder& Encoder::zeros(size_t count) {
  bytes_.resize(bytes_.size() + count);
  return *this;
}

Encoder& Encoder::checksum() {
  return number(lookup3(bytes_), sizeof(uint32_t));
}

void Encoder::overwrite(size_t at, int64_t value, size_t count) {
  const auto low = low_first(value);
  std::copy_n(low.begin(), count, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
}

bool is_ascii(std::span<const std::byte> text) {
  return std::all_of(text.begin(), text.end(), [](std::byte byte) { return byte < std::byte{0x80}; });
}

uint32_t lookup3(std::span<const std::byte> key) {
  using std::rotl;
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(key.size());
  uint32_t b = a;
  uint32_t c = a;
  if (key.empty()) {
    return c;
  }
  for (; key.size() > 12; key = key.subspan(12)) {
    a += word_at(key, 0);
    b += word_at(key, 4);
    c += word_at(key, 8);
    a = (a - c) ^ rotl(c, 4), c += b;
    b = (b - a) ^ rotl(a, 6), a += c;
    c = (c - b) ^ rotl(b, 8), b += a;
    a = (a - c) ^ rotl(c, 16), c += b;
    b = (b - a) ^ rotl(a, 19), a += c;
    c = (c - b) ^ rotl(b, 4), b += a;
  }
  a += word_at(key, 0);
  b += word_at(key, 4);
  c += word_at(key, 8);
  c = (c ^ b) - rotl(b, 14);
  a = (a ^ c) - rotl(c, 11);
  b = (b ^ a) - rotl(a, 25);
  c = (c ^ b) - rotl(b, 16);
  a = (a ^ c) - rotl(c, 4);
  b = (b ^ a) - rotl(a, 14);
  c = (c ^ b) - rotl(b, 24);
  return c;
}

std::vector<std::byte> superblock(int64_t file_bytes, int64_t root_address) {
  Encoder block;
  block.text(kSignature).number(2, 1).number(kAddressBytes, 1).number(kLengthBytes, 1).number(0, 1);
  block.number(0, kAddressBytes).number(kNowhere, kAddressBytes);
  block.number(file_bytes, kAddressBytes).number(root_address, kAddressBytes).checksum();
  return block.take();
}

void ObjectHeader::put_head(int64_t type, size_t bytes, int64_t flags) {
  messages_.number(type, 1).number(static_cast<int64_t>(bytes), kMessageSizeBytes).number(flags, 1);
  if (keeps_order_) {
    const bool is_attribute = type == static_cast<int64_t>(Message::kAttribute);
    messages_.number(is_attribute ? attributes_++ : 0, kOrderBytes);
  }
}

Encoder& ObjectHeader::begin(Message type) {
  head_ = messages_.size();
  put_head(static_cast<int64_t>(type), 0, flags_of(type));
  begun_ = messages_.size();
  return messages_;
}

void ObjectHeader::end() {
  messages_.overwrite(head_ + 1, static_cast<int64_t>(messages_.size() - begun_), kMessageSizeBytes);
}

void ObjectHeader::copy(const HeaderMessage& message) {
  put_head(message.type, message.content.size(), message.flags);
  messages_.bytes(message.content);
}

std::vector<std::byte> ObjectHeader::finish() const {
  constexpr int64_t kKeepsOrder = 0x04 | 0x08;  // The group has an index of it.
  const size_t code = width_code(messages_.size());
  Encoder header(messages_.size() + 32);
  header.text("OHDR").number(2, 1).number(static_cast<int64_t>(code) | (keeps_order_ ? kKeepsOrder : 0), 1);
  header.number(static_cast<int64_t>(messages_.size()), size_t{1} << code).bytes(messages_.view()).checksum();
  return header.take();
}

void put_dataspace(Encoder& to, std::span<const int64_t> dims, bool extendable) {
  constexpr int64_t kHasMaximum = 1;
  constexpr int64_t kUnlimited = -1;
  const bool is_simple = !dims.empty();
  to.number(2, 1).number(static_cast<int64_t>(dims.size()), 1).number(is_simple ? kHasMaximum : 0, 1).number(is_simple, 1);
  for (const int64_t dim : dims) {
    to.number(dim, kLengthBytes);
  }
  // These are the largest sizes that they may reach.
  for (size_t i = 0; i < dims.size(); ++i) {
    to.number(i == 0 && extendable ? kUnlimited : dims[i], kLengthBytes);
  }
}

void put_fill_value(Encoder& to, Allocation allocation, std::span<const std::byte> value) {
  constexpr int64_t kNeverFilled = 1 << 2;
  constexpr int64_t kFilledIfSet = 2 << 2;
  constexpr int64_t kHasValue = 1 << 5;
  const bool is_filled = allocation == Allocation::kAtOnce && value.empty();
  to.number(3, 1).number(
      static_cast<int64_t>(allocation) | (is_filled ? kNeverFilled : kFilledIfSet) | (value.empty() ? 0 : kHasValue), 1);
  if (!value.empty()) {
    to.number(static_cast<int64_t>(value.size()), 4).bytes(value);
  }
}

void put_contiguous_layout(Encoder& to, int64_t address, int64_t bytes) {
  to.number(3, 1).number(1, 1).number(address, kAddressBytes).number(bytes, kLengthBytes);
}

void put_no_index(Encoder& to) {
  to.number(0, 1).number(0, 1).number(kNowhere, kAddressBytes).number(kNowhere, kAddressBytes);
}

namespace {

// An order, kept and indexed, and the place of the index, which is nowhere.
void put_order(Encoder& to, int64_t count, size_t count_bytes) {
  constexpr int64_t kKeptAndIndexed = 3;
  to.number(0, 1).number(kKeptAndIndexed, 1).number(count, count_bytes);
  to.number(kNowhere, kAddressBytes).number(kNowhere, kAddressBytes).number(kNowhere, kAddressBytes);
}

}  // namespace

void put_links_in_order(Encoder& to, int64_t count) {
  put_order(to, count, sizeof(int64_t));
}

void put_attributes_in_order(Encoder& to, int64_t count) {
  put_order(to, count, kOrderBytes);
}

void put_attribute_head(Encoder& to, std::string_view name, size_t datatype_bytes, size_t dataspace_bytes) {
  to.number(3, 1).number(0, 1).number(static_cast<int64_t>(name.size()) + 1, 2);
  to.number(static_cast<int64_t>(datatype_bytes), 2)
      .number(static_cast<int64_t>(dataspace_bytes), 2)
      .number(charset_of(name), 1);
  to.text(name).zeros(1);
}

void put_group_info(Encoder& to) {
  to.zeros(2);
}

namespace {

constexpr int64_t kHardLink = 0;
constexpr int64_t kSoftLink = 1;
constexpr int64_t kExternalLink = 64;

// Writes what all links begin with.
void put_link_head(Encoder& to, int64_t type, std::string_view name, LinkOrder order) {
  constexpr int64_t kHasCharset = 0x10;
  constexpr int64_t kHasType = 0x08;
  constexpr int64_t kHasOrder = 0x04;
  const size_t code = width_code(name.size());
  const int64_t charset = charset_of(name);
  to.number(1, 1).number(static_cast<int64_t>(code) | (charset != kAscii ? kHasCharset : 0) |
                             (type != kHardLink ? kHasType : 0) | (order ? kHasOrder : 0),
                         1);
  if (type != kHardLink) {
    to.number(type, 1);
  }
  if (order) {
    to.number(*order, sizeof(int64_t));
  }
  if (charset != kAscii) {
    to.number(charset, 1);
  }
  to.number(static_cast<int64_t>(name.size()), size_t{1} << code).text(name);
}

}  // namespace

void put_link(Encoder& to, std::string_view name, int64_t header_address, LinkOrder order) {
  put_link_head(to, kHardLink, name, order);
  to.number(header_address, kAddressBytes);
}

void put_other_link(Encoder& to, std::string_view name, std::string_view target, std::string_view file, LinkOrder order) {
  if (file.empty()) {
    put_link_head(to, kSoftLink, name, order);
    to.number(static_cast<int64_t>(target.size()), 2).text(target);
    return;
  }
  put_link_head(to, kExternalLink, name, order);
  to.number(static_cast<int64_t>(file.size() + target.size()) + 3, 2).number(0, 1);
  to.text(file).zeros(1).text(target).zeros(1);
}

void put_symbol_table(Encoder& to, int64_t tree_address, int64_t heap_address) {
  to.number(tree_address, kAddressBytes).number(heap_address, kAddressBytes);
}

}  // namespace stria::container::h5
