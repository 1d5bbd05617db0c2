// An object header of an existing file, message by message: what the reader finds there, and what a
// file that grows takes over into the header's next version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::container::h5 {

/// The messages of an object header (format specification IV.A.2), by their type.
enum class Message : uint8_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFillValue = 0x04,
  kFillValue = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kGroupInfo = 0x0a,
  kFilterPipeline = 0x0b,
  kAttribute = 0x0c,
  kComment = 0x0d,
  kOldTime = 0x0e,
  kTime = 0x12,
  kTreeSizes = 0x13,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};

/// A message whose content only says where it is.
inline constexpr int64_t kIsShared = 0x02;

struct HeaderMessage {
  int64_t type = 0;
  int64_t flags = 0;
  int64_t order = 0;  ///< the order of an attribute, where the header keeps it
  std::vector<std::byte> content;
};

/// A link in a group that exists: to a header, or to a path, of another file where `file` isn't
/// empty.
struct GroupMember {
  enum class Kind { kHard, kSoft, kExternal, kOther };
  std::string name;
  Kind kind = Kind::kHard;
  int64_t address = -1;
  std::string target, file;
  int64_t order = -1;  ///< the order of creation, where the group keeps it
};

/// Messages that say where the next ones are, or nothing, are left out.
struct ObjectMessages {
  std::vector<HeaderMessage> messages;
  int64_t name_count = 1;          ///< how many links lead to the object, where the header says
  bool orders_attributes = false;  ///< the header keeps the order in which they were made
  std::vector<ByteRange> blocks;   ///< the blocks of the file, that have the messages
};

bool is(const HeaderMessage& message, Message type);
/// Returns the number in `bytes` bytes of a message's content, with zeros for what it lacks.
int64_t number_at(const HeaderMessage& message, size_t at, size_t bytes);

/// The beginning of an attribute message (IV.A.2.m).
struct AttributeHead {
  std::string name;
  bool may_refer = false;    ///< its type is one that can hold references
  size_t value_at = 0;       ///< in the message's content
  int64_t type_version = 0;  ///< the version of how its type is written
};
/// None where the message is of something else, only says where the attribute is, or is damaged.
std::optional<AttributeHead> attribute_head(const HeaderMessage& message);
/// Tells whether a datatype message is of a type that can hold references.
bool may_refer(const HeaderMessage& datatype);
/// Returns the message that says where attributes outside of the header are; null when there is
/// none.
const HeaderMessage* attribute_info(const ObjectMessages& header);
/// Tells whether it names an index of such attributes.
bool has_attribute_index(const ObjectMessages& header);
/// Tells whether there are such attributes, with or without an index.
bool has_attributes_outside(const ObjectMessages& header);
/// Returns the dimensions of a dataset; none where its header doesn't say them.
std::vector<int64_t> dims_of(const ObjectMessages& header);
/// Tells whether a header is that of a group.
bool is_group(const ObjectMessages& header);

/// A reference that a file has, to an object of it.
struct HeldReference {
  static constexpr int64_t kUnknown = -1;

  std::string holder;          ///< the path of the object that has it
  std::string attribute;       ///< the holder's; empty: it is among a dataset's elements
  int64_t address = kUnknown;  ///< the address of the header that it names
  int64_t at = kUnknown;       ///< where the address is in the attribute's value, if that has it
};

}  // namespace stria::container::h5
