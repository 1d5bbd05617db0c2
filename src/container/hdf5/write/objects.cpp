#include "container/hdf5/write/objects.hpp"

#include <string_view>
#include <utility>

#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/complex_form.hpp"
#include "container/hdf5/sizes.hpp"
#include "container/hdf5/write/chunk_format.hpp"
#include "container/hdf5/write/element_format.hpp"
#include "container/hdf5/write/symbol_table.hpp"

namespace stria::container::h5 {

namespace {

// A group with more links than this has a B-tree of them, because readers search a header
// from end to end.
constexpr int64_t kLinksInHeaderMax = 128;
// Larger values belong in datasets: a message has at most 65,535 bytes.
constexpr int64_t kAttributeBytesMax = 60000;
constexpr size_t kAttributeHeadBytes = 16;  // rounded up
constexpr size_t kLinkNameMax = 60000;
constexpr int64_t kTableAlignment = 8;
constexpr int64_t kIsElsewhere = 0x02;  // a message whose content only says where it is

}  // namespace

Result<Value> make_value(const ElementSpec& element, const std::vector<int64_t>& dims) {
  Value value{element, 0, dims, 0, {}};
  STRIA_RETURN_IF_ERROR(fold_complex(value.element, value.dims));
  STRIA_ASSIGN_OR_RETURN(value.datatype_bytes, datatype_bytes(value.element));
  STRIA_RETURN_IF_ERROR(total_bytes(value.dims, value.element.bytes, &value.bytes));
  return value;
}

Status fill(Value& value, std::span<const std::byte> content) {
  if (static_cast<int64_t>(content.size()) != value.bytes) {
    return Status(ErrorCode::kInvalidArgument, "its type and shape make " + std::to_string(value.bytes) + " bytes, but " +
                                                   std::to_string(content.size()) + " are given");
  }
  value.content.assign(content.begin(), content.end());
  declare_utf8(value.element, value.content);
  turn_to_file_order(value.element, value.content);
  return Status();
}

namespace {

// The paths that the attribute has become addresses later.
Result<Value> make_references(const AttributeSpec& attribute) {
  ElementSpec stored = attribute.element;
  stored.bytes = kReferenceBytes;
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(stored, attribute.dims));
  const auto width = static_cast<size_t>(attribute.element.bytes);
  constexpr auto kEach = static_cast<size_t>(kReferenceBytes);
  value.content.resize(static_cast<size_t>(value.bytes));
  if (width * (value.content.size() / kEach) != attribute.value.size()) {
    return Status(ErrorCode::kInvalidArgument, "its shape is not that of its references");
  }
  for (size_t at = 0; at + width <= attribute.value.size(); at += width) {
    std::string path(reinterpret_cast<const char*>(attribute.value.data()) + at, width);
    path.resize(std::min(path.find('\0'), path.size()));
    value.references.push_back({.at = at / width * kEach, .path = std::move(path)});
  }
  return value;
}

}  // namespace

Result<Value> make_attribute_value(const AttributeSpec& attribute) {
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, "not a name");
  }
  const bool refers = attribute.element.kind == ElementSpec::Kind::kReference;
  STRIA_ASSIGN_OR_RETURN(Value value, refers ? make_references(attribute) : make_value(attribute.element, attribute.dims));
  STRIA_RETURN_IF_ERROR(refers ? Status() : fill(value, attribute.value));
  const size_t others = attribute.name.size() + value.datatype_bytes + value.dataspace_bytes();
  if (value.bytes > kAttributeBytesMax || others > kMessageBytesMax - kAttributeBytesMax - kAttributeHeadBytes) {
    return Status(ErrorCode::kUnsupported,
                  "a value of more than " + std::to_string(kAttributeBytesMax) + " bytes, or a long name; make it a dataset");
  }
  return value;
}

namespace {

/// Whether a message of an object's header goes into its next one as it is.
bool stays(const HeaderMessage& message) {
  // What is made anew, and times, which headers of version 2 have elsewhere.
  static constexpr int64_t kMadeAnew[] = {0x02, 0x06, 0x0a, 0x0c, 0x0e, 0x11, 0x12, 0x15, 0x16};
  return std::find(std::begin(kMadeAnew), std::end(kMadeAnew), message.type) == std::end(kMadeAnew);
}

int64_t number_at(const HeaderMessage& message, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) {
    value = value << 8 | (at + i < message.content.size() ? static_cast<uint64_t>(message.content[at + i]) : 0);
  }
  return static_cast<int64_t>(value);
}

bool is(const HeaderMessage& message, Message type) {
  return message.type == static_cast<int64_t>(type);
}

/// The name that an attribute message holds (format specification IV.A.2.m).
std::string attribute_name(const HeaderMessage& message) {
  const size_t head = number_at(message, 0, 1) == 3 ? 9 : 8;
  const auto bytes = static_cast<size_t>(number_at(message, 2, 2));
  if ((message.flags & kIsElsewhere) != 0 || message.content.size() < head + bytes || bytes == 0) {
    return {};
  }
  const std::string name(reinterpret_cast<const char*>(message.content.data()) + head, bytes);
  return name.substr(0, name.find('\0'));
}

bool has_value(const Attribute& attribute) {
  return !attribute.waits || attribute.otherwise;
}

/// The message that says where attributes outside of the header are; null when there is none.
const HeaderMessage* attribute_info(const Object& object) {
  const auto found = std::find_if(object.before.messages.begin(), object.before.messages.end(),
                                  [](const HeaderMessage& message) { return is(message, Message::kAttributeInfo); });
  return found == object.before.messages.end() ? nullptr : &*found;
}

bool has_attributes_outside(const Object& object) {
  const HeaderMessage* info = attribute_info(object);
  return info != nullptr && number_at(*info, (number_at(*info, 1, 1) & 1) != 0 ? 4 : 2, 8) != kNowhere;
}

/// Whether an attribute that an object has gets another value.
bool is_replaced(const Object& object, const HeaderMessage& attribute) {
  const std::string name = attribute_name(attribute);
  return std::any_of(object.attributes.begin(), object.attributes.end(),
                     [&](const Attribute& other) { return has_value(other) && other.name == name; });
}

// What the next header takes over from the one that an object has, but for attributes.
void take_over(const Object& object, ObjectHeader& header) {
  for (const HeaderMessage& message : object.before.messages) {
    const bool longer = object.value && (is(message, Message::kDataspace) || is(message, Message::kLayout));
    if (stays(message) && !longer) {
      header.copy(message);
    }
  }
}

// Attributes that never got a value are left out. Without attributes the header doesn't mention
// their index either.
void add_attributes(Object& object, ObjectHeader& header) {
  const bool any_old = std::any_of(object.before.messages.begin(), object.before.messages.end(),
                                   [](const HeaderMessage& message) { return is(message, Message::kAttribute); });
  if (has_attributes_outside(object)) {
    header.copy(*attribute_info(object));
  } else if (any_old || std::any_of(object.attributes.begin(), object.attributes.end(), has_value)) {
    put_no_index(header.begin(Message::kAttributeInfo));
    header.end();
  }
  // Behind the info, where every reader looks for them.
  for (const HeaderMessage& message : object.before.messages) {
    if (is(message, Message::kAttribute) && !is_replaced(object, message)) {
      header.copy(message);
    }
  }
  for (const Attribute& attribute : object.attributes) {
    if (!has_value(attribute)) {
      continue;
    }
    const Value& value = attribute.waits ? *attribute.otherwise : attribute.value;
    Encoder& message = header.begin(Message::kAttribute);
    put_attribute_head(message, attribute.name, value.datatype_bytes, value.dataspace_bytes());
    put_datatype(message, value.element);
    put_dataspace(message, value.dims);
    for (const Reference& reference : value.references) {
      object.awaited.push_back({.at = header.position() + reference.at, .target = reference.target});
    }
    message.bytes(value.content);
    header.end();
  }
}

Status add_links(const Object& group, ImageSpace& space, ObjectHeader& header) {
  const auto is_link = [](const Object* member) { return member->kind == Object::Kind::kLink; };
  const bool has_links = std::any_of(group.links.begin(), group.links.end(), is_link);
  // A tree has links to headers alone.
  const bool in_header = has_links || (static_cast<int64_t>(group.links.size()) <= kLinksInHeaderMax &&
                                       std::all_of(group.links.begin(), group.links.end(),
                                                   [](const Object* member) { return member->name.size() < kLinkNameMax; }));
  if (!in_header) {
    std::vector<Link> links;
    for (const Object* member : group.links) {
      links.push_back({member->name, member->address});
    }
    STRIA_ASSIGN_OR_RETURN(const SymbolTable table, make_symbol_table(std::move(links), space));
    put_symbol_table(header.begin(Message::kSymbolTable), table.tree_address, table.heap_address);
    header.end();
    return Status();
  }
  put_no_index(header.begin(Message::kLinkInfo));
  header.end();
  put_group_info(header.begin(Message::kGroupInfo));
  header.end();
  for (const Object* member : group.links) {
    Encoder& message = header.begin(Message::kLink);
    if (is_link(member)) {
      put_other_link(message, member->name, member->link_target, member->link_file);
    } else {
      put_link(message, member->name, member->address);
    }
    header.end();
  }
  return Status();
}

/// Gives the index of a dataset's chunks its place, and adds the message that names it.
Status add_chunk_index(const Object& dataset, ImageSpace& space, ObjectHeader& header) {
  const DatasetSpec spec{
      .path = {}, .element = dataset.value->element, .dims = dataset.value->dims, .chunking = dataset.chunking};
  const ChunkGrid grid(spec);
  STRIA_ASSIGN_OR_RETURN(const int64_t tree, make_chunk_tree(grid, dataset.chunks, space));
  put_chunked_layout(header.begin(Message::kLayout), tree, grid.chunk_dims(), spec.element.bytes);
  header.end();
  return Status();
}

/// Adds what a dataset's header says of its elements; gives a table's content its place.
Status add_elements(Object& dataset, ImageSpace& space, ObjectHeader& header) {
  const Value& value = *dataset.value;
  STRIA_RETURN_IF_ERROR(place_content(dataset, space));
  put_dataspace(header.begin(Message::kDataspace), value.dims, dataset.extendable);
  header.end();
  if (dataset.is_old) {
    return add_chunk_index(dataset, space, header);
  }
  put_datatype(header.begin(Message::kDatatype), value.element);
  header.end();
  if (!dataset.elsewhere.empty()) {
    put_zero_fill_value(header.begin(Message::kFillValue));
    header.end();
    put_virtual_layout(header.begin(Message::kLayout), dataset.mappings);
    header.end();
    return Status();
  }
  if (!dataset.chunking) {
    Encoder& fill_value = header.begin(Message::kFillValue);
    dataset.is_dimension ? put_late_fill_value(fill_value) : put_no_fill_value(fill_value);
    header.end();
    put_contiguous_layout(header.begin(Message::kLayout), dataset.data_offset, value.bytes);
    header.end();
    return Status();
  }
  put_zero_fill_value(header.begin(Message::kFillValue));
  header.end();
  STRIA_RETURN_IF_ERROR(add_chunk_index(dataset, space, header));
  if (dataset.chunking->filters.any()) {
    put_filter_pipeline(header.begin(Message::kFilterPipeline), dataset.chunking->filters, dataset.number_bytes);
    header.end();
  }
  return Status();
}

std::string path_of(const Object& object) {
  return object.above == nullptr ? object.name : path_of(*object.above) + "/" + object.name;
}

Status unable(const std::string& why) {
  return Status(ErrorCode::kUnsupported, why);
}

}  // namespace

bool is_group(const ObjectMessages& header) {
  return std::any_of(header.messages.begin(), header.messages.end(), [](const HeaderMessage& message) {
    return is(message, Message::kLinkInfo) || is(message, Message::kLink) || is(message, Message::kSymbolTable);
  });
}

bool is_scale(const ObjectMessages& header, int64_t length) {
  bool is_class = false;
  bool has_length = false;
  for (const HeaderMessage& message : header.messages) {
    is_class = is_class || (is(message, Message::kAttribute) && attribute_name(message) == "CLASS");
    if (is(message, Message::kDataspace)) {
      const size_t head = number_at(message, 0, 1) == 1 ? 8 : 4;
      has_length = number_at(message, 1, 1) == 1 && number_at(message, head, 8) == length;
    }
  }
  return is_class && has_length;
}

Status check_replaceable(const Object& object) {
  const HeaderMessage* info = attribute_info(object);
  if (object.before.name_count > 1) {
    return unable("it has several names, and would change under one of them only");
  }
  if (object.before.orders_attributes || (info != nullptr && (number_at(*info, 1, 1) & 1) != 0)) {
    return unable("it keeps the order in which its attributes were made");
  }
  for (const HeaderMessage& message : object.before.messages) {
    if (is(message, Message::kLinkInfo) && (number_at(message, 1, 1) & 1) != 0) {
      return unable("it keeps the order in which its members were made");
    }
    if (!object.is_group() && is(message, Message::kAttribute) && attribute_name(message) == "REFERENCE_LIST") {
      return unable("other datasets refer to it");
    }
  }
  return Status();
}

Status check_attribute_replaceable(const Object& object) {
  const bool elsewhere =
      has_attributes_outside(object) ||
      std::any_of(object.before.messages.begin(), object.before.messages.end(), [](const HeaderMessage& message) {
        return is(message, Message::kAttribute) && (message.flags & kIsElsewhere) != 0;
      });
  return elsewhere ? unable("it has attributes outside of its header") : Status();
}

Status place_content(Object& object, ImageSpace& space) {
  if (object.value && !object.value->content.empty() && object.data_offset == kNowhere) {
    const int64_t alignment = std::max(object.alignment_bytes, kTableAlignment);
    STRIA_ASSIGN_OR_RETURN(object.data_offset, space.place(object.value->content, alignment));
  }
  return Status();
}

Status place_mappings(std::deque<Object>& objects, ImageSpace& space) {
  GlobalHeap heap;
  std::vector<Object*> described;
  const auto place = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.place(heap.take(), kTableAlignment));
    for (Object* object : described) {
      object->mappings.address = address;
    }
    described.clear();
    return Status();
  };
  for (Object& object : objects) {
    if (object.elsewhere.empty()) {
      continue;
    }
    if (heap.is_full()) {
      STRIA_RETURN_IF_ERROR(place());
    }
    object.mappings.index = heap.add(mapping_block(path_of(object), object.value->dims, object.elsewhere));
    described.push_back(&object);
  }
  return described.empty() ? Status() : place();
}

Status place_object(Object& object, ImageSpace& space) {
  if (!object.needs_header()) {
    return Status();
  }
  ObjectHeader header;
  take_over(object, header);
  if (object.is_group()) {
    STRIA_RETURN_IF_ERROR(add_links(object, space, header));
  } else if (object.value) {
    STRIA_RETURN_IF_ERROR(add_elements(object, space, header));
  }
  object.awaited.clear();
  add_attributes(object, header);
  STRIA_ASSIGN_OR_RETURN(object.address, space.place(header.finish()));
  if (!object.awaited.empty()) {
    object.header = std::move(header);
  }
  return Status();
}

void fill_addresses(Object& object, ImageSpace& space) {
  for (const Reference& reference : object.awaited) {
    object.header->set_address(reference.at, reference.target->address);
  }
  if (!object.awaited.empty()) {
    space.write(object.address, object.header->finish());
  }
}

}  // namespace stria::container::h5
