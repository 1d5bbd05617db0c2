#include "container/hdf5/read/stored/stored_type.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "container/corrupted.hpp"

namespace stria::container::h5 {

namespace {

using Class = StoredType::Class;

constexpr int kMostNestedTypes = 64;
constexpr int64_t kStoredArrayDimensionsMax = 32;

/// Holds what all classes have in front.
struct Head {
  int64_t version = 0;
  int64_t type_class = 0;
  int64_t flags = 0;
  int64_t bytes = 0;
};

Head decode_head(Decoder& decoder) {
  const int64_t first = decoder.number(1);
  return {.version = first >> 4, .type_class = first & 0x0f, .flags = decoder.number(3), .bytes = decoder.number(4)};
}

Result<StoredType> decode_nested(Decoder& decoder, int depth);

Status check_bits(Decoder& decoder, const Head& head) {
  const int64_t offset = decoder.number(2);
  const int64_t precision = decoder.number(2);
  return precision > 0 && offset + precision <= 8 * head.bytes ? Status() : corrupted("a number has bits outside of its bytes");
}

Status check_float(Decoder& decoder, const Head& head) {
  STRIA_RETURN_IF_ERROR(check_bits(decoder, head));
  const int64_t bits = 8 * head.bytes;
  const int64_t sign_at = head.flags >> 8 & 0xff;
  const int64_t exponent_at = decoder.number(1), exponent_bits = decoder.number(1);
  const int64_t mantissa_at = decoder.number(1), mantissa_bits = decoder.number(1);
  decoder.take(4);  // the exponent's bias
  return sign_at < bits && exponent_bits > 0 && mantissa_bits > 0 && exponent_at + exponent_bits <= bits &&
                 mantissa_at + mantissa_bits <= bits
             ? Status()
             : corrupted("a floating-point number has bits outside of its bytes");
}

// Skips a name that ends with NUL, in old versions padded to a multiple of 8.
bool skip_name(Decoder& decoder, bool is_padded) {
  size_t bytes = 1;
  while (true) {
    const auto letter = decoder.take(1);
    if (letter.empty()) {
      return false;
    }
    if (letter[0] == std::byte{0}) {
      break;
    }
    ++bytes;
  }
  if (is_padded) {
    decoder.take((8 - bytes % 8) % 8);
  }
  return bytes > 1;
}

int64_t offset_bytes_within(int64_t most) {
  return (std::bit_width(static_cast<uint64_t>(most)) + 7) / 8;
}

/// Decodes the dimensions of a member of version 1, as many elements as they make.
int64_t decode_old_dimensions(Decoder& decoder) {
  constexpr int64_t kDimensions = 4;
  const int64_t count = decoder.number(1);
  decoder.take(3 + 4 + 4);
  int64_t elements = 1;
  for (int64_t dim = 0; dim < kDimensions; ++dim) {
    const int64_t length = decoder.number(4);
    if (dim < count && !checked_multiply(elements, length, &elements)) {
      return -1;
    }
  }
  return count <= kDimensions && elements > 0 ? elements : -1;
}

Status decode_members(Decoder& decoder, const Head& head, int depth, StoredType& type) {
  const int64_t count = head.flags & 0xffff;
  const auto offset_bytes = static_cast<size_t>(head.version >= 3 ? offset_bytes_within(head.bytes) : 4);
  for (int64_t i = 0; i < count; ++i) {
    if (!skip_name(decoder, head.version < 3)) {
      return corrupted("a member of a compound has no name");
    }
    StoredType::Member member{.offset = decoder.number(offset_bytes), .type = {}};
    const int64_t elements = head.version == 1 ? decode_old_dimensions(decoder) : 1;
    STRIA_ASSIGN_OR_RETURN(member.type, decode_nested(decoder, depth + 1));
    int64_t bytes = 0;
    if (elements < 0 || !checked_multiply(member.type.bytes, elements, &bytes) || member.offset > head.bytes ||
        bytes > head.bytes - member.offset) {
      return corrupted("a member of a compound lies outside of it");
    }
    if (elements > 1) {
      StoredType array{.type_class = Class::kArray, .bytes = bytes, .base = {}, .members = {}};
      array.base.push_back(std::move(member.type));
      member.type = std::move(array);
    }
    type.members.push_back(std::move(member));
  }
  return count > 0 ? Status() : corrupted("a compound without members");
}

Status decode_enumeration(Decoder& decoder, const Head& head, int depth, StoredType& type) {
  const int64_t count = head.flags & 0xffff;
  STRIA_ASSIGN_OR_RETURN(StoredType base, decode_nested(decoder, depth + 1));
  if (base.type_class != Class::kInteger || base.bytes != head.bytes) {
    return corrupted("an enumeration whose values are no integers of its size");
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!skip_name(decoder, head.version < 3)) {
      return corrupted("a member of an enumeration has no name");
    }
  }
  decoder.take(static_cast<size_t>(count * base.bytes));
  type.base.push_back(std::move(base));
  return Status();
}

Status decode_array(Decoder& decoder, const Head& head, int depth, StoredType& type) {
  const int64_t count = decoder.number(1);
  decoder.take(head.version < 3 ? 3 : 0);
  if (count < 1 || count > kStoredArrayDimensionsMax) {
    return corrupted("an array type without dimensions");
  }
  int64_t elements = 1;
  for (int64_t dim = 0; dim < count; ++dim) {
    if (!checked_multiply(elements, decoder.number(4), &elements)) {
      return corrupted("an array type is too large");
    }
  }
  decoder.take(head.version < 3 ? static_cast<size_t>(4 * count) : 0);
  STRIA_ASSIGN_OR_RETURN(StoredType base, decode_nested(decoder, depth + 1));
  int64_t bytes = 0;
  if (elements < 1 || !checked_multiply(elements, base.bytes, &bytes) || bytes != head.bytes) {
    return corrupted("an array type has another size than its elements");
  }
  type.base.push_back(std::move(base));
  return Status();
}

Status decode_reference(const Head& head, StoredType& type) {
  constexpr int64_t kObject = 0, kRegion = 1;
  const int64_t kind = head.flags & 0x0f;
  type.is_region = kind == kRegion;
  // It is the address of an object, or of a heap with an index there.
  return (kind == kObject && head.bytes >= 2) || (kind == kRegion && head.bytes >= 6)
             ? Status()
             : corrupted("a reference of an unknown kind");
}

Status decode_list(Decoder& decoder, const Head& head, int depth, StoredType& type) {
  constexpr int64_t kSequence = 0, kText = 1;
  const int64_t kind = head.flags & 0x0f;
  STRIA_ASSIGN_OR_RETURN(StoredType base, decode_nested(decoder, depth + 1));
  type.is_text = kind == kText;
  const bool is_known = (kind == kSequence || kind == kText) && (kind != kText || base.bytes == 1);
  type.base.push_back(std::move(base));
  return is_known && head.bytes > 8 ? Status() : corrupted("a type of variable length of an unknown kind");
}

Status decode_content(Decoder& decoder, const Head& head, int depth, StoredType& type) {
  switch (type.type_class) {
    case Class::kInteger:
    case Class::kBitfield:
      return check_bits(decoder, head);
    case Class::kFloat:
      return check_float(decoder, head);
    case Class::kTime:
      decoder.take(2);
      return Status();
    case Class::kString:
      return Status();
    case Class::kOpaque:
      decoder.take(static_cast<size_t>(head.flags & 0xff));
      return Status();
    case Class::kCompound:
      return decode_members(decoder, head, depth, type);
    case Class::kReference:
      return decode_reference(head, type);
    case Class::kEnumeration:
      return decode_enumeration(decoder, head, depth, type);
    case Class::kList:
      return decode_list(decoder, head, depth, type);
    case Class::kArray:
      return decode_array(decoder, head, depth, type);
  }
  return Status();
}

Result<StoredType> decode_nested(Decoder& decoder, int depth) {
  constexpr int64_t kVersionMax = 3;
  const Head head = decode_head(decoder);
  if (!decoder.well() || head.version < 1 || head.bytes < 1) {
    return corrupted("a datatype makes no sense");
  }
  if (head.version > kVersionMax || head.type_class > static_cast<int64_t>(Class::kArray)) {
    return Status(ErrorCode::kUnsupported, "a datatype of an unknown version number");
  }
  if (depth > kMostNestedTypes) {
    return Status(ErrorCode::kUnsupported, "a datatype nested too deep");
  }
  StoredType type{.type_class = static_cast<Class>(head.type_class), .bytes = head.bytes, .base = {}, .members = {}};
  STRIA_RETURN_IF_ERROR(decode_content(decoder, head, depth, type));
  return decoder.well() ? Result<StoredType>(std::move(type)) : corrupted("a datatype is cut short");
}

}  // namespace

int64_t StoredType::array_count() const {
  return type_class == Class::kArray && !base.empty() ? bytes / base[0].bytes : 1;
}

bool StoredType::has_heap_places() const {
  return type_class == Class::kList || (type_class == Class::kReference && is_region) ||
         std::any_of(base.begin(), base.end(), [](const StoredType& type) { return type.has_heap_places(); }) ||
         std::any_of(members.begin(), members.end(), [](const Member& member) { return member.type.has_heap_places(); });
}

bool StoredType::has_references() const {
  return type_class == Class::kReference ||
         std::any_of(base.begin(), base.end(), [](const StoredType& type) { return type.has_references(); }) ||
         std::any_of(members.begin(), members.end(), [](const Member& member) { return member.type.has_references(); });
}

Result<StoredType> decode_type(Decoder& decoder) {
  return decode_nested(decoder, 0);
}

}  // namespace stria::container::h5
