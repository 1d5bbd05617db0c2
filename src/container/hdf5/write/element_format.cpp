#include "container/hdf5/write/element_format.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/checked.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kMembersMax = 65535;
constexpr size_t kArrayDimensionsMax = 32;

// Class and version in one byte, 24 bits that depend on the class, and the size.
void head(Encoder& message, int64_t type_class, int64_t version, int64_t bits, int64_t bytes) {
  message.number(version << 4 | type_class, 1).number(bits, 3).number(bytes, 4);
}

void encode_integer(Encoder& message, int64_t bytes, bool has_sign, int64_t order) {
  head(message, 0, 1, order | (has_sign ? 8 : 0), bytes);
  message.number(0, 2).number(8 * bytes, 2);
}

// Encodes IEEE 754: the sign first, then the exponent, then the mantissa without its leading one.
void encode_float(Encoder& message, int64_t bytes, int64_t order) {
  constexpr int64_t kLeadingOneImplied = 2 << 4;
  const int64_t bits = 8 * bytes;
  const int64_t exponent_bits = bytes == 2 ? 5 : bytes == 4 ? 8 : 11;
  const int64_t mantissa_bits = bits - 1 - exponent_bits;
  head(message, 1, 1, (bits - 1) << 8 | kLeadingOneImplied | order, bytes);
  message.number(0, 2).number(bits, 2).number(mantissa_bits, 1).number(exponent_bits, 1).number(0, 1).number(mantissa_bits, 1);
  message.number((int64_t{1} << (exponent_bits - 1)) - 1, 4);
}

bool has_sign(ElementType number) {
  return number == ElementType::kInt8 || number == ElementType::kInt16 || number == ElementType::kInt32 ||
         number == ElementType::kInt64;
}

bool holds(const ElementSpec& element, int64_t value) {
  const int64_t bits = 8 * element.bytes;
  if (bits == 64) {
    return true;  // unsigned ones are given by their bits
  }
  const int64_t end = int64_t{1} << (has_sign(element.number) ? bits - 1 : bits);
  return value < end && value >= (has_sign(element.number) ? -end : 0);
}

Status check_enumeration(const ElementSpec& element) {
  const auto invalid = [](const std::string& why) { return Status(ErrorCode::kInvalidArgument, "an enumeration: " + why); };
  if (!element.is_integer()) {
    return invalid("only integers have one");
  }
  if (element.enumeration.size() > kMembersMax) {
    return invalid("it has more than 65,535 names");
  }
  std::set<std::string> names;
  std::set<int64_t> values;
  for (const NamedNumber& member : element.enumeration) {
    if (member.name.empty() || member.name.find('\0') != std::string::npos || !names.insert(member.name).second) {
      return invalid("the name '" + member.name + "' is empty, or comes twice");
    }
    if (!holds(element, member.value) || !values.insert(member.value).second) {
      return invalid("'" + member.name + "' is " + std::to_string(member.value) + ", which comes twice, or isn't " +
                     element_type_name(element.number));
    }
  }
  return Status();
}

Status encode_enumeration(const ElementSpec& element, int64_t order, Encoder& message) {
  STRIA_RETURN_IF_ERROR(check_enumeration(element));
  head(message, 8, 3, static_cast<int64_t>(element.enumeration.size()), element.bytes);
  encode_integer(message, element.bytes, has_sign(element.number), order);
  for (const NamedNumber& member : element.enumeration) {
    message.text(member.name).zeros(1);
  }
  for (const NamedNumber& member : element.enumeration) {
    for (int64_t i = 0; i < element.bytes; ++i) {
      message.number(member.value >> 8 * (order == 1 ? element.bytes - 1 - i : i) & 0xff, 1);
    }
  }
  return Status();
}

// Encodes an enumeration of int8, as h5py has them.
void encode_boolean(Encoder& message) {
  constexpr std::string_view kNames[] = {"FALSE", "TRUE"};
  head(message, 8, 3, static_cast<int64_t>(std::size(kNames)), 1);
  encode_integer(message, 1, true, 0);
  for (const std::string_view name : kNames) {
    message.text(name).zeros(1);
  }
  message.number(0, 1).number(1, 1);
}

// A reference is the place of an object's header.
void encode_reference(Encoder& message) {
  head(message, 7, 1, 0, kReferenceBytes);
}

void encode_list_of_references(Encoder& message) {
  head(message, 9, 1, 0, kListBytes);
  encode_reference(message);
}

Status check_meaning(const ElementSpec& element) {
  const bool fits = element.meaning == Meaning::kNumber ||
                    (element.meaning == Meaning::kBoolean && element.number == ElementType::kUint8) ||
                    (element.meaning == Meaning::kHalf && element.number == ElementType::kUint16);
  return fits ? Status()
              : Status(ErrorCode::kInvalidArgument,
                       "booleans are uint8, numbers of half precision have their bits in uint16, "
                       "and complex numbers are pairs of float32 or float64");
}

Status encode_number(const ElementSpec& element, Encoder& message) {
  STRIA_RETURN_IF_ERROR(check_meaning(element));
  if (element.bytes != element_bytes(element.number)) {
    return Status(ErrorCode::kInvalidArgument, "an element of type " + std::string(element_type_name(element.number)) +
                                                   " can't have " + std::to_string(element.bytes) + " bytes");
  }
  const int64_t order = element.big_endian && element.bytes > 1 ? 1 : 0;
  if (!element.enumeration.empty()) {
    return encode_enumeration(element, order, message);
  }
  if (element.meaning == Meaning::kBoolean) {
    encode_boolean(message);
    return Status();
  }
  if (element.meaning == Meaning::kHalf) {
    encode_float(message, element.bytes, order);
    return Status();
  }
  switch (element.number) {
    case ElementType::kByte:
      head(message, 5, 1, 0, 1);  // opaque, with an empty tag
      break;
    case ElementType::kFloat32:
    case ElementType::kFloat64:
      encode_float(message, element.bytes, order);
      break;
    default:
      encode_integer(message, element.bytes, has_sign(element.number), order);
      break;
  }
  return Status();
}

// The type is the one that h5py declares for its text: a C string in UTF-8, of bytes.
void encode_text(Encoder& message) {
  constexpr int64_t kIsString = 1;
  head(message, 9, 1, kIsString | kUtf8 << 8, kTextPlaceBytes);
  encode_integer(message, 1, false, 0);
}

Status encode_string(const ElementSpec& element, Encoder& message) {
  if (element.varies) {
    encode_text(message);
    return Status();
  }
  if (element.bytes < 1 || element.bytes > UINT32_MAX) {
    return Status(ErrorCode::kInvalidArgument, "a string can't have " + std::to_string(element.bytes) + " bytes");
  }
  constexpr int64_t kTerminated = 0, kPadded = 1, kPaddedByBlanks = 2;
  const int64_t padding = element.space_padded ? kPaddedByBlanks : element.c_declared ? kTerminated : kPadded;
  head(message, 3, 1, padding | (element.utf8 ? kUtf8 : kAscii) << 4, element.bytes);
  return Status();
}

Status check_members(const ElementSpec& element) {
  if (element.bytes < 1 || element.bytes > UINT32_MAX || element.members.empty() || element.members.size() > kMembersMax) {
    return Status(ErrorCode::kInvalidArgument, "a compound needs members and a size");
  }
  std::vector<const ElementSpec::Member*> by_place;
  std::vector<std::string> names;
  for (const ElementSpec::Member& member : element.members) {
    int64_t end = 0;
    const bool fits =
        member.offset_bytes >= 0 && checked_add(member.offset_bytes, member.element.bytes, &end) && end <= element.bytes;
    if (!fits) {
      return Status(ErrorCode::kInvalidArgument, "member '" + member.name + "' lies outside its compound");
    }
    by_place.push_back(&member);
    names.push_back(member.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return Status(ErrorCode::kInvalidArgument, "member '" + *twice + "' is twice in its compound");
  }
  std::sort(by_place.begin(), by_place.end(), [](auto* a, auto* b) { return a->offset_bytes < b->offset_bytes; });
  const auto overlap = std::adjacent_find(
      by_place.begin(), by_place.end(), [](auto* a, auto* b) { return a->offset_bytes + a->element.bytes > b->offset_bytes; });
  if (overlap != by_place.end()) {
    return Status(ErrorCode::kInvalidArgument, "member '" + (*overlap)->name + "' overlaps another of its compound");
  }
  return Status();
}

Status encode(const ElementSpec& element, int depth, Encoder& message);

Status encode_compound(const ElementSpec& element, int depth, Encoder& message) {
  STRIA_RETURN_IF_ERROR(check_members(element));
  head(message, 6, 3, static_cast<int64_t>(element.members.size()), element.bytes);
  const auto offset_bytes = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(element.bytes)) + 7) / 8;
  for (const ElementSpec::Member& member : element.members) {
    if (member.name.empty() || member.name.find('\0') != std::string::npos) {
      return Status(ErrorCode::kInvalidArgument, "a member of a compound needs a name");
    }
    message.text(member.name).zeros(1).number(member.offset_bytes, offset_bytes);
    STRIA_RETURN_IF_ERROR(encode(member.element, depth + 1, message));
  }
  return Status();
}

Status encode_array(const ElementSpec& element, int depth, Encoder& message) {
  const auto& dims = element.array_dims;
  const bool fits = !dims.empty() && dims.size() <= kArrayDimensionsMax && element.members.size() == 1 &&
                    element.bytes == element.array_size() * element.members[0].element.bytes && element.bytes <= UINT32_MAX;
  if (!fits) {
    return Status(ErrorCode::kInvalidArgument, "an array has 1 to 32 dimensions, and less than 4 GiB");
  }
  head(message, 10, 3, 0, element.bytes);
  message.number(static_cast<int64_t>(dims.size()), 1);
  for (const int64_t length : dims) {
    message.number(length, 4);
  }
  return encode(element.members[0].element, depth + 1, message);
}

Status encode(const ElementSpec& element, int depth, Encoder& message) {
  if (depth > ElementSpec::kMostNested) {
    return Status(ErrorCode::kUnsupported, "a compound nested more than " + std::to_string(ElementSpec::kMostNested) + " deep");
  }
  switch (element.kind) {
    case ElementSpec::Kind::kNumber:
      return encode_number(element, message);
    case ElementSpec::Kind::kString:
      return encode_string(element, message);
    case ElementSpec::Kind::kCompound:
      return encode_compound(element, depth, message);
    case ElementSpec::Kind::kReference:
      encode_reference(message);
      return Status();
    case ElementSpec::Kind::kReferences:
      encode_list_of_references(message);
      return Status();
    case ElementSpec::Kind::kArray:
      return encode_array(element, depth, message);
    case ElementSpec::Kind::kOther:
      break;
  }
  return Status(ErrorCode::kUnsupported, "elements of this kind can be read but not made");
}

bool is_turned(const ElementSpec& element) {
  if (!element.members.empty()) {
    return std::any_of(element.members.begin(), element.members.end(),
                       [](const ElementSpec::Member& member) { return is_turned(member.element); });
  }
  return element.is_swapped();
}

void turn_one(const ElementSpec& element, std::span<std::byte> bytes) {
  if (element.kind == ElementSpec::Kind::kNumber) {
    std::reverse(bytes.begin(), bytes.end());
  }
  for (const ElementSpec::Member& member : element.members) {
    const auto width = static_cast<size_t>(member.element.bytes);
    for (int64_t i = 0; is_turned(member.element) && i < element.array_size(); ++i) {
      turn_one(member.element, bytes.subspan(static_cast<size_t>(member.offset_bytes) + static_cast<size_t>(i) * width, width));
    }
  }
}

}  // namespace

Result<size_t> datatype_bytes(const ElementSpec& element) {
  Encoder message;
  STRIA_RETURN_IF_ERROR(encode(element, 0, message));
  if (message.size() > kMessageBytesMax) {
    return Status(ErrorCode::kUnsupported, "a compound with too many members");
  }
  return message.size();
}

void put_datatype(Encoder& to, const ElementSpec& element) {
  STRIA_ASSERT(datatype_bytes(element).ok(), datatype_bytes(element).status());
  static_cast<void>(encode(element, 0, to));
}

void declare_utf8(ElementSpec& element, std::span<const std::byte> elements) {
  if (element.kind == ElementSpec::Kind::kString) {
    element.utf8 = element.utf8 || !is_ascii(elements);
  }
  if (element.kind == ElementSpec::Kind::kArray) {
    declare_utf8(element.members[0].element, elements);
    return;
  }
  const auto bytes = static_cast<size_t>(element.bytes);
  for (ElementSpec::Member& member : element.members) {
    const auto offset = static_cast<size_t>(member.offset_bytes);
    for (size_t at = 0; at + bytes <= elements.size(); at += bytes) {
      declare_utf8(member.element, elements.subspan(at + offset, static_cast<size_t>(member.element.bytes)));
    }
  }
}

void turn_to_file_order(const ElementSpec& element, std::span<std::byte> elements) {
  if (!is_turned(element)) {
    return;
  }
  const auto bytes = static_cast<size_t>(element.bytes);
  for (size_t at = 0; at + bytes <= elements.size(); at += bytes) {
    turn_one(element, elements.subspan(at, bytes));
  }
}

}  // namespace stria::container::h5
