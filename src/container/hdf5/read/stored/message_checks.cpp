#include "container/hdf5/read/stored/message_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "container/corrupted.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/read/stored/nbit_values.hpp"
#include "container/hdf5/read/stored/superblock.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kShareInHeader = 2;

Status newer(const char* what) {
  return Status(ErrorCode::kUnsupported, what);
}
/// What is left to libhdf5 is none of our business.
Status unless_newer(Status status) {
  return status.code() == ErrorCode::kUnsupported ? Status() : std::move(status);
}
Status whole(const Decoder& decoder, const char* what) {
  return decoder.well() ? Status() : Status(ErrorCode::kCorrupted, fmt::format("{} is cut short", what));
}

/// Decodes the content of a shared message: a version, and where it is.
std::optional<int64_t> decode_shared(Decoder& decoder, int64_t address_bytes) {
  const int64_t version = decoder.number(1);
  const int64_t kind = decoder.number(1);
  decoder.take(version == 1 ? 6 : 0);
  const bool in_header = version < 3 || kind == kShareInHeader;
  const int64_t address = decode_address(decoder, address_bytes);
  return in_header && decoder.well() ? std::optional(address) : std::nullopt;
}

/// Reads a type with a header of its own, which says it in so many words.
Result<StoredType> read_named_type(const MetadataSource& source, int64_t address) {
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source, address));
  const auto message = std::find_if(header.messages.begin(), header.messages.end(),
                                    [](const HeaderMessage& one) { return is(one, Message::kDatatype); });
  if (message == header.messages.end() || (message->flags & kIsShared) != 0) {
    return corrupted("a reference to a datatype leads to none");
  }
  Decoder decoder(message->content);
  return decode_type(decoder);
}

bool ends_with_nul(std::span<const std::byte> text) {
  return std::find(text.begin(), text.end(), std::byte{0}) != text.end();
}

}  // namespace

int64_t StoredSpace::element_count() const {
  int64_t count = 0;
  return is_null ? 0 : total_bytes(dims, 1, &count).ok() ? count : -1;
}

Result<StoredSpace> decode_space(Decoder& decoder, int64_t length_bytes) {
  constexpr int64_t kHasLimits = 0x01, kHasOrder = 0x02;
  constexpr int64_t kNull = 2;
  const int64_t version = decoder.number(1);
  const int64_t count = decoder.number(1);
  const int64_t flags = decoder.number(1);
  const int64_t kind = decoder.number(1);
  if (version != 1 && version != 2) {
    return version == 0 ? corrupted("a dataspace of version 0") : newer("a dataspace of an unknown version");
  }
  decoder.take(version == 1 ? 4 : 0);
  if (count > static_cast<int64_t>(kMostDimensions) || (version == 2 && kind > kNull)) {
    return corrupted("a dataspace makes no sense");
  }
  StoredSpace space{.is_null = version == 2 && kind == kNull};
  const int64_t lists = 1 + ((flags & kHasLimits) != 0 ? 1 : 0) + (version == 1 && (flags & kHasOrder) != 0 ? 1 : 0);
  for (int64_t dim = 0; dim < count; ++dim) {
    space.dims.push_back(decoder.number(static_cast<size_t>(length_bytes)));
  }
  decoder.take(static_cast<size_t>(count * (lists - 1) * length_bytes));
  STRIA_RETURN_IF_ERROR(whole(decoder, "a dataspace"));
  return space;
}

std::optional<int64_t> shared_address(const HeaderMessage& message, int64_t address_bytes) {
  Decoder decoder(message.content);
  return decode_shared(decoder, address_bytes);
}

Result<StoredType> type_of(const HeaderMessage& message, const MetadataSource& source) {
  if ((message.flags & kIsShared) == 0) {
    Decoder decoder(message.content);
    return decode_type(decoder);
  }
  const auto address = shared_address(message, source.address_bytes);
  return address ? read_named_type(source, *address) : newer("a datatype in a heap of shared messages");
}

namespace {

/// Returns the type or the space within an attribute, in so many bytes.
Result<StoredType> attribute_type(std::span<const std::byte> bytes, bool is_shared, const MetadataSource& source) {
  Decoder decoder(bytes);
  if (!is_shared) {
    return decode_type(decoder);
  }
  const auto address = decode_shared(decoder, source.address_bytes);
  return address ? read_named_type(source, *address) : newer("a datatype in a heap of shared messages");
}

}  // namespace

Result<StoredAttribute> decode_attribute(const HeaderMessage& message, const MetadataSource& source) {
  constexpr int64_t kTypeIsShared = 0x01, kSpaceIsShared = 0x02;
  Decoder decoder(message.content);
  const int64_t version = decoder.number(1);
  const int64_t flags = version > 1 ? decoder.number(1) : (decoder.take(1), 0);
  const auto name_bytes = static_cast<size_t>(decoder.number(2));
  const auto type_bytes = static_cast<size_t>(decoder.number(2));
  const auto space_bytes = static_cast<size_t>(decoder.number(2));
  if (version < 1 || version > 3) {
    return version == 0 ? corrupted("an attribute of version 0") : newer("an attribute of an unknown version");
  }
  decoder.take(version == 3 ? 1 : 0);
  const auto padded = [&](size_t bytes) { return version == 1 ? (bytes + 7) / 8 * 8 : bytes; };
  const auto name = decoder.take(padded(name_bytes)).first(decoder.well() ? name_bytes : 0);
  const auto type = decoder.take(padded(type_bytes));
  const auto space = decoder.take(padded(space_bytes));
  if (!decoder.well() || name_bytes < 1 || !ends_with_nul(name)) {
    return corrupted("an attribute makes no sense");
  }
  StoredAttribute attribute{.name = reinterpret_cast<const char*>(name.data()), .type = {}, .space = {}, .value = {}};
  STRIA_ASSIGN_OR_RETURN(attribute.type, attribute_type(type, (flags & kTypeIsShared) != 0, source));
  if ((flags & kSpaceIsShared) != 0) {
    return newer("an attribute whose dataspace lies elsewhere");
  }
  Decoder space_decoder(space);
  STRIA_ASSIGN_OR_RETURN(attribute.space, decode_space(space_decoder, source.length_bytes));
  int64_t bytes = 0;
  const int64_t count = attribute.space.element_count();
  if (count < 0 || !checked_multiply(count, attribute.type.bytes, &bytes) || bytes > static_cast<int64_t>(decoder.left())) {
    return corrupted("an attribute's value is cut short");
  }
  const auto value = decoder.take(static_cast<size_t>(bytes));
  attribute.value.assign(value.begin(), value.end());
  return attribute;
}

namespace {

Status check_lengths(const std::vector<int64_t>& lengths) {
  constexpr int64_t kChunkBytesLimit = int64_t{1} << 32;
  int64_t bytes = 1;
  for (const int64_t length : lengths) {
    if (length < 1 || !checked_multiply(bytes, length, &bytes) || bytes >= kChunkBytesLimit) {
      return corrupted("a chunk of 4 GiB or more, or of no elements");
    }
  }
  return Status();
}

// The last of the lengths of chunks is that of an element.
Result<StoredLayout> decode_chunks(Decoder& decoder, int64_t count, size_t length_bytes, StoredLayout layout) {
  if (count < 2 || count > static_cast<int64_t>(kMostDimensions) + 1) {
    return corrupted("chunks without dimensions");
  }
  for (int64_t dim = 0; dim < count; ++dim) {
    layout.lengths.push_back(decoder.number(length_bytes));
  }
  layout.kind = StoredLayout::Kind::kChunked;
  STRIA_RETURN_IF_ERROR(whole(decoder, "a layout"));
  STRIA_RETURN_IF_ERROR(check_lengths(layout.lengths));
  return layout;
}

Result<StoredLayout> decode_compact(Decoder& decoder, size_t size_bytes) {
  StoredLayout layout{.kind = StoredLayout::Kind::kCompact};
  const auto content = decoder.take(static_cast<size_t>(decoder.number(size_bytes)));
  STRIA_RETURN_IF_ERROR(whole(decoder, "a layout"));
  layout.content.assign(content.begin(), content.end());
  return layout;
}

// Decodes versions 1 and 2.
Result<StoredLayout> decode_old_layout(Decoder& decoder, const MetadataSource& source) {
  constexpr int64_t kCompact = 0, kChunked = 2;
  const int64_t count = decoder.number(1);
  const int64_t kind = decoder.number(1);
  decoder.take(5);
  StoredLayout layout{.has_old_tree = kind == kChunked};
  if (count < 1 || count > static_cast<int64_t>(kMostDimensions) + 1 || kind > kChunked) {
    return corrupted("a layout makes no sense");
  }
  layout.address = kind != kCompact ? decode_address(decoder, source.address_bytes) : -1;
  if (kind == kChunked) {
    return decode_chunks(decoder, count, 4, std::move(layout));
  }
  decoder.take(static_cast<size_t>(4 * count));
  if (kind == kCompact) {
    return decode_compact(decoder, 4);
  }
  STRIA_RETURN_IF_ERROR(whole(decoder, "a layout"));
  return layout;
}

Result<StoredLayout> decode_new_chunks(Decoder& decoder) {
  constexpr int64_t kIndexKinds = 5;
  decoder.take(1);
  const int64_t count = decoder.number(1);
  const int64_t length_bytes = decoder.number(1);
  if (length_bytes < 1 || length_bytes > 8) {
    return corrupted("a layout makes no sense");
  }
  STRIA_ASSIGN_OR_RETURN(StoredLayout layout, decode_chunks(decoder, count, static_cast<size_t>(length_bytes), StoredLayout()));
  const int64_t index_kind = decoder.number(1);
  // Parameters come first, then an address of 2 bytes at least.
  return index_kind >= 1 && index_kind <= kIndexKinds && decoder.left() >= 2 ? Result<StoredLayout>(std::move(layout))
                                                                             : corrupted("a layout makes no sense");
}

// Decodes versions 3 and 4.
Result<StoredLayout> decode_new_layout(Decoder& decoder, int64_t version, const MetadataSource& source) {
  constexpr int64_t kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3;
  const int64_t kind = decoder.number(1);
  StoredLayout layout{.has_old_tree = version == 3};
  switch (kind) {
    case kCompact:
      return decode_compact(decoder, 2);
    case kContiguous:
      layout.address = decode_address(decoder, source.address_bytes);
      decoder.take(static_cast<size_t>(source.length_bytes));
      break;
    case kChunked: {
      if (version > 3) {
        return decode_new_chunks(decoder);
      }
      const int64_t count = decoder.number(1);
      layout.address = decode_address(decoder, source.address_bytes);
      return decode_chunks(decoder, count, 4, std::move(layout));
    }
    case kVirtual:
      layout.kind = StoredLayout::Kind::kVirtual;
      layout.address = decode_address(decoder, source.address_bytes);
      layout.heap_index = decoder.number(4);
      break;
    default:
      return corrupted("a layout of an unknown kind");
  }
  STRIA_RETURN_IF_ERROR(whole(decoder, "a layout"));
  return layout;
}

}  // namespace

Result<StoredLayout> decode_layout(const HeaderMessage& message, const MetadataSource& source) {
  constexpr int64_t kNewest = 4;
  Decoder decoder(message.content);
  const int64_t version = decoder.number(1);
  if (version < 1 || version > kNewest) {
    return version < 1 ? corrupted("a layout of version 0") : newer("a layout of an unknown version");
  }
  return version < 3 ? decode_old_layout(decoder, source) : decode_new_layout(decoder, version, source);
}

Result<std::vector<std::byte>> stored_fill_value(const HeaderMessage& message) {
  constexpr int64_t kHasValue = 0x20;
  Decoder decoder(message.content);
  bool has_value = true;
  if (is(message, Message::kFillValue)) {
    const int64_t version = decoder.number(1);
    if (version < 1 || version > 3) {
      return version < 1 ? corrupted("a fill value of version 0") : newer("a fill value of an unknown version");
    }
    const int64_t flags = version == 3 ? decoder.number(1) : (decoder.take(2), decoder.number(1));
    has_value = version == 1 || (version == 2 ? flags != 0 : (flags & kHasValue) != 0);
  }
  // Undefined values may have a size of -1.
  const auto bytes = has_value ? static_cast<int32_t>(decoder.number(4)) : 0;
  const auto value = decoder.take(static_cast<size_t>(std::max(bytes, 0)));
  STRIA_RETURN_IF_ERROR(whole(decoder, "a fill value"));
  return std::vector<std::byte>(value.begin(), value.end());
}

namespace {

bool is_sound_filter(int64_t id, std::span<const std::byte> values) {
  constexpr int64_t kDeflate = 1, kShuffle = 2, kSzip = 4, kNbit = 5, kScaleOffset = 6;
  const auto count = static_cast<int64_t>(values.size() / 4);
  Decoder decoder(values);
  const int64_t first = decoder.number(4);
  switch (id) {
    case kDeflate:
      return count == 1 && first <= 9;
    case kShuffle:
      return count == 0 || (count == 1 && first > 0);  // none for elements of variable length
    case kSzip: {
      const int64_t block = decoder.number(4);
      const int64_t bits = decoder.number(4);
      const int64_t line = decoder.number(4);
      return count == 4 && block >= 2 && block <= 32 && block % 2 == 0 && bits >= 1 && bits <= 64 && line >= 1 && line <= 4096;
    }
    case kNbit: {
      constexpr int64_t kLeast = 2, kLeastToPack = 5;
      const bool packs = decoder.number(4) == 0;  // The filter does nothing otherwise: strings.
      decoder.take(4);                            // the number of elements
      return count >= kLeast && first == count && (!packs || (count >= kLeastToPack && nbit_element(decoder)));
    }
    case kScaleOffset:
      return count == 20;
    default:
      return true;
  }
}

Status check_filters(const HeaderMessage& message) {
  constexpr int64_t kFiltersMax = 32;
  constexpr int64_t kFirstNamed = 256;
  Decoder decoder(message.content);
  const int64_t version = decoder.number(1);
  const int64_t count = decoder.number(1);
  decoder.take(version == 1 ? 6 : 0);
  if (version > 2) {
    return Status();
  }
  if (version < 1 || count < 1 || count > kFiltersMax) {
    return corrupted("a filter pipeline makes no sense");
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = decoder.number(2);
    const auto name_bytes = static_cast<size_t>(version == 1 || id >= kFirstNamed ? decoder.number(2) : 0);
    decoder.take(2);
    const int64_t values = decoder.number(2);
    const auto name = decoder.take(version == 1 ? (name_bytes + 7) / 8 * 8 : name_bytes);
    const auto content = decoder.take(static_cast<size_t>(4 * values));
    decoder.take(version == 1 && values % 2 != 0 ? 4 : 0);
    STRIA_RETURN_IF_ERROR(whole(decoder, "a filter pipeline"));
    if ((!name.empty() && !ends_with_nul(name)) || !is_sound_filter(id, content)) {
      return corrupted("a filter's values make no sense");
    }
  }
  return Status();
}

Status check_link(const HeaderMessage& message, const MetadataSource& source) {
  constexpr int64_t kHasType = 0x08, kHasOrder = 0x04, kHasCharacters = 0x10;
  constexpr int64_t kHard = 0, kSoft = 1;
  Decoder decoder(message.content);
  const int64_t version = decoder.number(1);
  const int64_t flags = decoder.number(1);
  const int64_t type = (flags & kHasType) != 0 ? decoder.number(1) : kHard;
  decoder.take(((flags & kHasOrder) != 0 ? 8 : 0) + ((flags & kHasCharacters) != 0 ? 1 : 0));
  const int64_t name_bytes = decoder.number(size_t{1} << (flags & 3));
  if (version > 1) {
    return Status();
  }
  if (name_bytes < 1 || name_bytes > static_cast<int64_t>(decoder.left())) {
    return corrupted("a link has no name");
  }
  decoder.take(static_cast<size_t>(name_bytes));
  if (type == kHard) {
    decoder.take(static_cast<size_t>(source.address_bytes));
  } else {
    const auto bytes = static_cast<size_t>(decoder.number(2));
    if (bytes == 0 && type == kSoft) {
      return corrupted("a soft link leads nowhere");
    }
    decoder.take(bytes);
  }
  return whole(decoder, "a link");
}

/// Messages of which libhdf5 reads so many bytes, whatever they say.
int64_t least_bytes(const HeaderMessage& message, const MetadataSource& source) {
  constexpr int64_t kOldTimeBytes = 14;
  const int64_t flags = number_at(message, 1, 1);
  const int64_t address = source.address_bytes;
  switch (static_cast<Message>(message.type)) {
    case Message::kLinkInfo:
      return 2 + ((flags & 1) != 0 ? 8 : 0) + 2 * address + ((flags & 2) != 0 ? address : 0);
    case Message::kAttributeInfo:
      return 2 + ((flags & 1) != 0 ? 2 : 0) + 2 * address + ((flags & 2) != 0 ? address : 0);
    case Message::kGroupInfo:
      return 2 + ((flags & 1) != 0 ? 4 : 0) + ((flags & 2) != 0 ? 4 : 0);
    case Message::kOldTime:
      return kOldTimeBytes;
    case Message::kTime:
      return 8;
    case Message::kTreeSizes:
      return 7;
    case Message::kSymbolTable:
      return 2 * address;
    case Message::kExternalFiles:
      return 8 + address;
    default:
      return 0;
  }
}

Status check_message(const HeaderMessage& message, const MetadataSource& source) {
  if ((message.flags & kIsShared) != 0) {
    return is(message, Message::kDatatype) ? unless_newer(type_of(message, source).status()) : Status();
  }
  switch (static_cast<Message>(message.type)) {
    case Message::kDataspace: {
      Decoder decoder(message.content);
      return unless_newer(decode_space(decoder, source.length_bytes).status());
    }
    case Message::kDatatype:
      return unless_newer(type_of(message, source).status());
    case Message::kOldFillValue:
    case Message::kFillValue:
      return unless_newer(stored_fill_value(message).status());
    case Message::kLayout:
      return unless_newer(decode_layout(message, source).status());
    case Message::kFilterPipeline:
      return check_filters(message);
    case Message::kAttribute:
      return unless_newer(decode_attribute(message, source).status());
    case Message::kLink:
      return check_link(message, source);
    case Message::kComment:
      return ends_with_nul(message.content) ? Status() : corrupted("a comment without an end");
    default:
      return static_cast<int64_t>(message.content.size()) >= least_bytes(message, source) ? Status()
                                                                                          : corrupted("a message is cut short");
  }
}

const HeaderMessage* find(const ObjectMessages& header, Message type) {
  const auto found =
      std::find_if(header.messages.begin(), header.messages.end(), [&](const HeaderMessage& one) { return is(one, type); });
  return found == header.messages.end() ? nullptr : &*found;
}

// Checks what the messages of a dataset say of each other.
Status check_dataset(const ObjectMessages& header, const MetadataSource& source) {
  const HeaderMessage* layout_message = find(header, Message::kLayout);
  const HeaderMessage* type_message = find(header, Message::kDatatype);
  const HeaderMessage* space_message = find(header, Message::kDataspace);
  if (layout_message == nullptr || type_message == nullptr || space_message == nullptr ||
      (space_message->flags & kIsShared) != 0) {
    return Status();
  }
  const auto type = type_of(*type_message, source);
  const auto layout = decode_layout(*layout_message, source);
  Decoder decoder(space_message->content);
  const auto space = decode_space(decoder, source.length_bytes);
  if (!type.ok() || !layout.ok() || !space.ok()) {
    return Status();  // It comes from a newer release.
  }
  const std::vector<int64_t>& lengths = layout->lengths;
  if (!lengths.empty() && (lengths.size() != space->dims.size() + 1 || lengths.back() != type->bytes)) {
    return corrupted("chunks have other dimensions or elements than their dataset");
  }
  for (const Message kind : {Message::kOldFillValue, Message::kFillValue}) {
    const HeaderMessage* const fill = find(header, kind);
    if (fill == nullptr || (fill->flags & kIsShared) != 0) {
      continue;
    }
    const auto value = stored_fill_value(*fill);
    if (value.ok() && !value->empty() && static_cast<int64_t>(value->size()) != type->bytes) {
      return corrupted("the fill value has another size than the elements");
    }
  }
  return Status();
}

}  // namespace

Status check_messages(const ObjectMessages& header, const MetadataSource& source) {
  for (const HeaderMessage& message : header.messages) {
    STRIA_RETURN_IF_ERROR(check_message(message, source));
  }
  return check_dataset(header, source);
}

}  // namespace stria::container::h5
