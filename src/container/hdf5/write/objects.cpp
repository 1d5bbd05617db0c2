#include "container/hdf5/write/objects.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/form/complex_form.hpp"
#include "container/hdf5/form/sizes.hpp"
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

}  // namespace

const ObjectMessages& Object::old_header() const {
  static const ObjectMessages none{};
  return old ? old->header : none;
}

Result<Value> make_shape(const ElementSpec& element, const std::vector<int64_t>& dims) {
  Value value{element, 0, dims, 0, {}};
  STRIA_RETURN_IF_ERROR(fold_complex(value.element, value.dims));
  STRIA_RETURN_IF_ERROR(total_bytes(value.dims, value.element.bytes, &value.bytes));
  return value;
}

Result<Value> make_value(const ElementSpec& element, const std::vector<int64_t>& dims) {
  STRIA_ASSIGN_OR_RETURN(Value value, make_shape(element, dims));
  STRIA_ASSIGN_OR_RETURN(value.datatype_bytes, datatype_bytes(value.element));
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

Result<Value> make_texts(const ElementSpec& element, const std::vector<int64_t>& dims, std::span<const std::byte> content) {
  ElementSpec stored = element;
  stored.bytes = kTextPlaceBytes;
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(stored, dims));
  const auto width = static_cast<size_t>(element.bytes);
  constexpr auto kEach = static_cast<size_t>(kTextPlaceBytes);
  value.content.resize(static_cast<size_t>(value.bytes));
  if (width == 0 || width * (value.content.size() / kEach) != content.size()) {
    return Status(ErrorCode::kInvalidArgument, "its shape is not that of its texts");
  }
  for (size_t at = 0; at + width <= content.size(); at += width) {
    std::string text(reinterpret_cast<const char*>(content.data()) + at, width);
    text.resize(std::min(text.find('\0'), text.size()));
    value.texts.push_back({.at = at / width * kEach, .text = std::move(text)});
  }
  return value;
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

Result<Value> make_filled_value(const AttributeSpec& attribute) {
  if (attribute.element.kind == ElementSpec::Kind::kReference) {
    return make_references(attribute);
  }
  if (attribute.element.varies) {
    return make_texts(attribute.element, attribute.dims, attribute.value);
  }
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(attribute.element, attribute.dims));
  STRIA_RETURN_IF_ERROR(fill(value, attribute.value));
  return value;
}

}  // namespace

Result<Value> make_attribute_value(const AttributeSpec& attribute) {
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, "not a name");
  }
  STRIA_ASSIGN_OR_RETURN(Value value, make_filled_value(attribute));
  const size_t others = attribute.name.size() + value.datatype_bytes + value.dataspace_bytes();
  if (value.bytes > kAttributeBytesMax || others > kMessageBytesMax - kAttributeBytesMax - kAttributeHeadBytes) {
    return Status(ErrorCode::kUnsupported,
                  "a value of more than " + std::to_string(kAttributeBytesMax) + " bytes, or a long name; make it a dataset");
  }
  return value;
}

namespace {

/// Tells whether a message of an object's header goes into its next one as it is.
bool stays(const HeaderMessage& message) {
  // What is made anew, and times, which headers of version 2 have elsewhere.
  static constexpr int64_t kMadeAnew[] = {0x02, 0x06, 0x0a, 0x0c, 0x0e, 0x11, 0x12, 0x15, 0x16};
  return std::find(std::begin(kMadeAnew), std::end(kMadeAnew), message.type) == std::end(kMadeAnew);
}

bool has_value(const Attribute& attribute) {
  return !attribute.waits || attribute.otherwise;
}

/// Tells whether an attribute that an object has gets another value.
bool is_replaced(const Object& object, const HeaderMessage& attribute) {
  const auto head = attribute_head(attribute);
  return head && std::any_of(object.attributes.begin(), object.attributes.end(),
                             [&](const Attribute& other) { return has_value(other) && other.name == head->name; });
}

// Takes over what the next header takes over from the one that an object has, but for attributes.
void take_over(const Object& object, ObjectHeader& header) {
  const bool gets_longer = object.dataset() != nullptr && object.dataset()->value;
  for (const HeaderMessage& message : object.old_header().messages) {
    const bool longer = gets_longer && (is(message, Message::kDataspace) || is(message, Message::kLayout));
    if (stays(message) && !longer) {
      header.copy(message);
    }
  }
}

bool keeps_attribute_order(const Object& object) {
  return object.old ? object.old->header.orders_attributes : object.keeps_order;
}

/// Returns the attributes in an old object's header that stay, in their order.
std::vector<const HeaderMessage*> kept_attributes(const Object& object) {
  std::vector<const HeaderMessage*> kept;
  for (const HeaderMessage& message : object.old_header().messages) {
    if (is(message, Message::kAttribute) && !is_replaced(object, message)) {
      kept.push_back(&message);
    }
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const HeaderMessage* a, const HeaderMessage* b) { return a->order < b->order; });
  return kept;
}

// Attributes that never got a value are left out. Without attributes the header doesn't mention
// their index either.
void add_attributes(Object& object, ObjectHeader& header) {
  const std::vector<const HeaderMessage*> kept = kept_attributes(object);
  const int64_t count =
      static_cast<int64_t>(kept.size()) + std::count_if(object.attributes.begin(), object.attributes.end(), has_value);
  if (has_attribute_index(object.old_header())) {
    header.copy(*attribute_info(object.old_header()));
  } else if (count > 0) {
    Encoder& info = header.begin(Message::kAttributeInfo);
    keeps_attribute_order(object) ? put_attributes_in_order(info, count) : put_no_index(info);
    header.end();
  }
  // The messages that are kept go behind the info, where every reader looks for them.
  for (const HeaderMessage* message : kept) {
    header.copy(*message);
    for (const StaleAddress& stale : object.old->stale) {
      if (stale.message == message) {
        const size_t content_at = header.position() - message->content.size();
        object.awaited.push_back({.at = content_at + stale.at, .target = stale.target});
      }
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

Status add_links(const Group& group, bool keeps_order, ImageSpace& space, ObjectHeader& header) {
  const auto is_link = [](const Object* member) { return member->name_elsewhere() != nullptr; };
  const bool has_links = std::any_of(group.links.begin(), group.links.end(), is_link);
  // A tree has links to headers alone.
  const bool in_header = has_links || keeps_order ||
                         (static_cast<int64_t>(group.links.size()) <= kLinksInHeaderMax &&
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
  Encoder& info = header.begin(Message::kLinkInfo);
  keeps_order ? put_links_in_order(info, static_cast<int64_t>(group.links.size())) : put_no_index(info);
  header.end();
  put_group_info(header.begin(Message::kGroupInfo));
  header.end();
  LinkOrder order;
  for (const Object* member : group.links) {
    if (keeps_order) {
      order = order ? *order + 1 : 0;
    }
    Encoder& message = header.begin(Message::kLink);
    if (const NameElsewhere* const other = member->name_elsewhere()) {
      put_other_link(message, member->name, other->target, other->file, order);
    } else {
      put_link(message, member->name, member->address, order);
    }
    header.end();
  }
  return Status();
}

/// Gives the index of a dataset's chunks its place, and adds the message that names it.
Status add_chunk_index(const Dataset& dataset, ImageSpace& space, ObjectHeader& header) {
  const DatasetSpec spec{
      .path = {}, .element = dataset.value->element, .dims = dataset.value->dims, .chunking = dataset.chunking};
  const ChunkGrid grid(spec);
  STRIA_ASSIGN_OR_RETURN(const int64_t tree, make_chunk_tree(grid, dataset.chunks, space));
  put_chunked_layout(header.begin(Message::kLayout), tree, grid.chunk_dims(), spec.element.bytes);
  header.end();
  return Status();
}

/// Adds what a dataset's header says of its elements; gives a table's content its place.
Status add_elements(Dataset& dataset, bool is_old, ImageSpace& space, ObjectHeader& header) {
  const Value& value = *dataset.value;
  STRIA_RETURN_IF_ERROR(place_content(dataset, space));
  put_dataspace(header.begin(Message::kDataspace), value.dims, dataset.extendable);
  header.end();
  if (is_old) {
    return add_chunk_index(dataset, space, header);
  }
  put_datatype(header.begin(Message::kDatatype), value.element);
  header.end();
  const Allocation allocation = !dataset.elsewhere.empty() || dataset.chunking ? Allocation::kByChunk
                                : dataset.is_dimension                         ? Allocation::kLate
                                                                               : Allocation::kAtOnce;
  put_fill_value(header.begin(Message::kFillValue), allocation, dataset.fill_value);
  header.end();
  if (!dataset.elsewhere.empty()) {
    put_virtual_layout(header.begin(Message::kLayout), dataset.mappings);
    header.end();
    return Status();
  }
  if (!dataset.chunking) {
    put_contiguous_layout(header.begin(Message::kLayout), dataset.data_offset, value.bytes);
    header.end();
    return Status();
  }
  STRIA_RETURN_IF_ERROR(add_chunk_index(dataset, space, header));
  if (dataset.chunking->filters.any()) {
    DatasetSpec spec;
    spec.element = value.element;
    spec.element.bytes = dataset.number_bytes;
    spec.chunking = dataset.chunking;
    spec.fill_value = dataset.fill_value;
    put_filter_pipeline(header.begin(Message::kFilterPipeline), spec);
    header.end();
  }
  return Status();
}

std::string path_of(const Object& object) {
  return object.above == nullptr ? object.name : path_of(*object.above) + "/" + object.name;
}

Status unable_to_write(const std::string& why) {
  return Status(ErrorCode::kUnsupported, why);
}

}  // namespace

bool keeps_member_order(const ObjectMessages& header) {
  return std::any_of(header.messages.begin(), header.messages.end(), [](const HeaderMessage& message) {
    return is(message, Message::kLinkInfo) && (number_at(message, 1, 1) & 1) != 0;
  });
}

bool has_attribute(const ObjectMessages& header, std::string_view name) {
  return std::any_of(header.messages.begin(), header.messages.end(), [&](const HeaderMessage& message) {
    const auto head = attribute_head(message);
    return head && head->name == name;
  });
}

std::optional<ScaleLength> scale_length(const ObjectMessages& header) {
  constexpr int64_t kHasMaximum = 1;
  const auto space = std::find_if(header.messages.begin(), header.messages.end(),
                                  [](const HeaderMessage& message) { return is(message, Message::kDataspace); });
  if (!has_attribute(header, "CLASS") || space == header.messages.end() || number_at(*space, 1, 1) != 1) {
    return std::nullopt;
  }
  const size_t head = number_at(*space, 0, 1) == 1 ? 8 : 4;
  const bool has_maximum = (number_at(*space, 2, 1) & kHasMaximum) != 0;
  return ScaleLength{.length = number_at(*space, head, 8), .has_limit = !has_maximum || number_at(*space, head + 8, 8) != -1};
}

Status check_replaceable(const Object& object) {
  if (object.old_header().name_count > 1) {
    return unable_to_write("it has several names, and would change under one of them only");
  }
  return Status();
}

Status check_attribute_replaceable(const Object& object) {
  return has_attributes_outside(object.old_header()) ? unable_to_write("it has attributes outside of its header") : Status();
}

Status place_content(Dataset& dataset, ImageSpace& space) {
  if (dataset.value && !dataset.value->content.empty() && dataset.data_offset == kNowhere) {
    const int64_t alignment = std::max(dataset.alignment_bytes, kTableAlignment);
    STRIA_ASSIGN_OR_RETURN(dataset.data_offset, space.place(dataset.value->content, alignment));
  }
  return Status();
}

namespace {

/// Returns all values of objects that have texts.
std::vector<Value*> values_with_texts(std::deque<Object>& objects) {
  std::vector<Value*> found;
  const auto look_at = [&](Value& value) {
    if (!value.texts.empty()) {
      found.push_back(&value);
    }
  };
  for (Object& object : objects) {
    if (Value* const value = object.value()) {
      look_at(*value);
    }
    for (Attribute& attribute : object.attributes) {
      look_at(attribute.waits && attribute.otherwise ? *attribute.otherwise : attribute.value);
    }
  }
  return found;
}

/// The place of a text in a value, once its collection has an address.
struct TextInHeap {
  Value* value = nullptr;
  const PlacedText* text = nullptr;
  int64_t index = 0;
};

Status place_collection(GlobalHeap& heap, std::vector<TextInHeap>& texts, ImageSpace& space) {
  if (texts.empty()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t address, space.place(heap.take(), kTableAlignment));
  for (const TextInHeap& one : texts) {
    Encoder place;
    place.number(static_cast<int64_t>(one.text->text.size()), 4).number(address, 8).number(one.index, 4);
    std::copy(place.view().begin(), place.view().end(), one.value->content.begin() + static_cast<std::ptrdiff_t>(one.text->at));
  }
  texts.clear();
  return Status();
}

}  // namespace

// An empty text has no place: its value is all zeros, as libhdf5 has it.
Status place_texts(std::deque<Object>& objects, ImageSpace& space) {
  GlobalHeap heap;
  std::vector<TextInHeap> in_heap;
  for (Value* const value : values_with_texts(objects)) {
    for (const PlacedText& one : value->texts) {
      if (heap.is_full()) {
        STRIA_RETURN_IF_ERROR(place_collection(heap, in_heap, space));
      }
      if (!one.text.empty()) {
        in_heap.push_back({value, &one, heap.add(std::as_bytes(std::span(one.text)))});
      }
    }
  }
  return place_collection(heap, in_heap, space);
}

Status place_mappings(std::deque<Object>& objects, ImageSpace& space) {
  GlobalHeap heap;
  std::vector<Dataset*> described;
  const auto place = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.place(heap.take(), kTableAlignment));
    for (Dataset* dataset : described) {
      dataset->mappings.address = address;
    }
    described.clear();
    return Status();
  };
  for (Object& object : objects) {
    Dataset* const dataset = object.dataset();
    if (dataset == nullptr || dataset->elsewhere.empty()) {
      continue;
    }
    if (heap.is_full()) {
      STRIA_RETURN_IF_ERROR(place());
    }
    dataset->mappings.index = heap.add(mapping_block(path_of(object), dataset->value->dims, dataset->elsewhere));
    described.push_back(dataset);
  }
  return described.empty() ? Status() : place();
}

Status place_object(Object& object, ImageSpace& space) {
  if (!object.needs_header()) {
    return Status();
  }
  ObjectHeader header(keeps_attribute_order(object));
  take_over(object, header);
  if (const Group* const group = object.group()) {
    STRIA_RETURN_IF_ERROR(add_links(*group, object.keeps_order, space, header));
  } else if (object.value() != nullptr) {
    STRIA_RETURN_IF_ERROR(add_elements(*object.dataset(), object.old.has_value(), space, header));
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
