#include "container/hdf5/read/stored/stored_attributes.hpp"

#include "container/hdf5/read/stored/fractal_heap.hpp"
#include "container/hdf5/read/stored/superblock.hpp"

namespace stria::container::h5 {

namespace {

/// Finds the attribute among those that the message for attributes outside of the header names.
Result<StoredAttribute> find_outside(const MetadataSource& source, const HeaderMessage& info, const std::string& name) {
  constexpr size_t kIdBytes = 8;
  Decoder decoder(info.content);
  decoder.take(1);
  decoder.take((decoder.number(1) & 1) != 0 ? 2 : 0);  // the greatest number of an order
  const int64_t heap_address = decode_address(decoder, source.address_bytes);
  const int64_t tree_address = decode_address(decoder, source.address_bytes);
  if (heap_address >= 0 && tree_address >= 0) {
    STRIA_ASSIGN_OR_RETURN(const FractalHeap heap, FractalHeap::open(source, heap_address));
    STRIA_ASSIGN_OR_RETURN(const auto records, read_tree_records(source, tree_address));
    for (const auto& record : records) {
      if (record.size() <= kIdBytes) {
        return Status(ErrorCode::kCorrupted, "the index of attributes is damaged");
      }
      HeaderMessage message{.type = static_cast<int64_t>(Message::kAttribute),
                            .flags = static_cast<int64_t>(record[kIdBytes]),
                            .order = 0,
                            .content = {}};
      if ((message.flags & kIsShared) != 0) {
        continue;
      }
      STRIA_ASSIGN_OR_RETURN(message.content, heap.object(std::span(record).first(kIdBytes)));
      const auto head = attribute_head(message);
      if (head && head->name == name) {
        return decode_attribute(message, source);
      }
    }
  }
  return Status(ErrorCode::kNotFound, "no such attribute");
}

}  // namespace

Result<StoredAttribute> read_stored_attribute(const MetadataSource& source, int64_t address, const std::string& name) {
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source, address));
  for (const HeaderMessage& message : header.messages) {
    const auto head = attribute_head(message);
    if (head && head->name == name) {
      return decode_attribute(message, source);
    }
  }
  const HeaderMessage* const info = attribute_info(header);
  auto found = info != nullptr ? find_outside(source, *info, name)
                               : Result<StoredAttribute>(Status(ErrorCode::kNotFound, "no such attribute"));
  // It was there for libhdf5.
  return found.status().code() == ErrorCode::kNotFound
             ? Status(ErrorCode::kUnsupported, "it is shared with other objects of the file")
             : std::move(found);
}

}  // namespace stria::container::h5
