#include "container/hdf5/form/object_messages.hpp"

#include <algorithm>

namespace stria::container::h5 {

namespace {

constexpr int64_t kNone = -1;  // an address

// Decides by the first byte of a datatype (IV.A.2.d).
bool class_may_refer(int64_t first_byte) {
  constexpr int64_t kCompound = 6, kReference = 7, kList = 9, kArray = 10;
  const int64_t type_class = first_byte & 0x0f;
  return type_class == kCompound || type_class == kReference || type_class == kList || type_class == kArray;
}

}  // namespace

bool is(const HeaderMessage& message, Message type) {
  return message.type == static_cast<int64_t>(type);
}

int64_t number_at(const HeaderMessage& message, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) {
    value = value << 8 | (at + i < message.content.size() ? static_cast<uint64_t>(message.content[at + i]) : 0);
  }
  return static_cast<int64_t>(value);
}

std::optional<AttributeHead> attribute_head(const HeaderMessage& message) {
  constexpr int64_t kTypeIsElsewhere = 0x01;
  if (!is(message, Message::kAttribute) || (message.flags & kIsShared) != 0) {
    return std::nullopt;
  }
  const int64_t version = number_at(message, 0, 1);
  const size_t head_bytes = version == 3 ? 9 : 8;
  const auto padded = [&](size_t at) {
    const auto bytes = static_cast<size_t>(number_at(message, at, 2));
    return version == 1 ? (bytes + 7) / 8 * 8 : bytes;
  };
  const auto name_bytes = static_cast<size_t>(number_at(message, 2, 2));
  const size_t type_at = head_bytes + padded(2);
  AttributeHead head{.name = {}, .may_refer = false, .value_at = type_at + padded(4) + padded(6)};
  head.type_version = number_at(message, type_at, 1) >> 4;
  if (name_bytes == 0 || head.value_at > message.content.size()) {
    return std::nullopt;
  }
  head.name.assign(reinterpret_cast<const char*>(message.content.data()) + head_bytes, name_bytes);
  head.name.resize(std::min(head.name.find('\0'), head.name.size()));
  const bool type_is_elsewhere = version > 1 && (number_at(message, 1, 1) & kTypeIsElsewhere) != 0;
  head.may_refer = type_is_elsewhere || class_may_refer(number_at(message, type_at, 1));
  return head;
}

bool may_refer(const HeaderMessage& datatype) {
  return is(datatype, Message::kDatatype) && ((datatype.flags & kIsShared) != 0 || class_may_refer(number_at(datatype, 0, 1)));
}

const HeaderMessage* attribute_info(const ObjectMessages& header) {
  const auto found = std::find_if(header.messages.begin(), header.messages.end(),
                                  [](const HeaderMessage& message) { return is(message, Message::kAttributeInfo); });
  return found == header.messages.end() ? nullptr : &*found;
}

bool has_attribute_index(const ObjectMessages& header) {
  const HeaderMessage* info = attribute_info(header);
  return info != nullptr && number_at(*info, (number_at(*info, 1, 1) & 1) != 0 ? 4 : 2, 8) != kNone;
}

bool has_attributes_outside(const ObjectMessages& header) {
  return has_attribute_index(header) ||
         std::any_of(header.messages.begin(), header.messages.end(), [](const HeaderMessage& message) {
           return is(message, Message::kAttribute) && (message.flags & kIsShared) != 0;
         });
}

std::vector<int64_t> dims_of(const ObjectMessages& header) {
  constexpr size_t kDimensionsMax = 32;
  const auto space = std::find_if(header.messages.begin(), header.messages.end(),
                                  [](const HeaderMessage& message) { return is(message, Message::kDataspace); });
  std::vector<int64_t> dims;
  if (space != header.messages.end()) {
    const size_t head_bytes = number_at(*space, 0, 1) == 1 ? 8 : 4;
    const auto count = std::min(static_cast<size_t>(number_at(*space, 1, 1)), kDimensionsMax);
    for (size_t dim = 0; dim < count; ++dim) {
      dims.push_back(std::max<int64_t>(number_at(*space, head_bytes + dim * sizeof(int64_t), sizeof(int64_t)), 0));
    }
  }
  return dims;
}

bool is_group(const ObjectMessages& header) {
  return std::any_of(header.messages.begin(), header.messages.end(), [](const HeaderMessage& message) {
    return is(message, Message::kLinkInfo) || is(message, Message::kLink) || is(message, Message::kSymbolTable);
  });
}

}  // namespace stria::container::h5
