#include "container/hdf5/write/writer.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/sizes.hpp"
#include "container/hdf5/write/chunk_format.hpp"
#include "container/hdf5/write/element_format.hpp"
#include "container/hdf5/write/format.hpp"
#include "container/hdf5/write/image_space.hpp"
#include "container/hdf5/write/symbol_table.hpp"
#include "container/object_path.hpp"

namespace stria::container {

namespace {

using Bytes = std::vector<std::byte>;
using h5::ImageSpace;
using h5::Message;

// A group with more links than this has a B-tree of them, because readers search a header
// from end to end.
constexpr int64_t kLinksInHeaderMax = 128;
// Larger values belong in datasets: a message has at most 65,535 bytes.
constexpr int64_t kAttributeBytesMax = 60000;
constexpr size_t kAttributeHeadBytes = 16;  // rounded up
constexpr size_t kLinkNameMax = 60000;
constexpr int64_t kTableAlignment = 8;

/// Elements of a type and shape, with their bytes in the file where they are known.
struct Value {
  ElementSpec element;
  size_t datatype_bytes = 0;
  std::vector<int64_t> dims;
  int64_t bytes = 0;
  Bytes content;

  size_t dataspace_bytes() const { return 4 + 2 * sizeof(int64_t) * dims.size(); }
};

struct Attribute {
  std::string name;
  Value value;
  bool waits = false;              // reserved, and not filled yet
  std::optional<Value> otherwise;  // the value of a later write_attribute(), used if no other comes
};

struct Object {
  std::string name;            // without the groups above it
  std::optional<Value> value;  // of a dataset
  int64_t alignment_bytes = 1;
  int64_t data_offset = h5::kNowhere;
  std::optional<Chunking> chunking;
  std::vector<StoredChunk> chunks;
  std::vector<Object*> links;  // of a group
  std::deque<Attribute> attributes;
  int64_t address = 0;  // address of its header, once that has a place

  bool is_group() const { return !value.has_value(); }
  Attribute* find(const std::string& attribute) {
    const auto found =
        std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

std::string naming(const AttributeSpec& attribute) {
  return "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
}

std::string naming(const DatasetSpec& dataset) {
  return "cannot make dataset '" + dataset.path + "'";
}

Result<Value> make_value(const ElementSpec& element, const std::vector<int64_t>& dims) {
  Value value{element, 0, dims, 0, {}};
  STRIA_ASSIGN_OR_RETURN(value.datatype_bytes, h5::datatype_bytes(element));
  STRIA_RETURN_IF_ERROR(h5::total_bytes(dims, element.bytes, &value.bytes));
  return value;
}

/// Gives a value its elements, which are in the machine's byte order.
Status fill(Value& value, std::span<const std::byte> content) {
  if (static_cast<int64_t>(content.size()) != value.bytes) {
    return Status(ErrorCode::kInvalidArgument, "its type and shape make " + std::to_string(value.bytes) + " bytes, but " +
                                                   std::to_string(content.size()) + " are given");
  }
  value.content.assign(content.begin(), content.end());
  h5::declare_utf8(value.element, value.content);
  h5::turn_to_file_order(value.element, value.content);
  return Status();
}

Result<Value> make_attribute_value(const AttributeSpec& attribute) {
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, "not a name");
  }
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(attribute.element, attribute.dims));
  STRIA_RETURN_IF_ERROR(fill(value, attribute.value));
  const size_t others = attribute.name.size() + value.datatype_bytes + value.dataspace_bytes();
  if (value.bytes > kAttributeBytesMax || others > h5::kMessageBytesMax - kAttributeBytesMax - kAttributeHeadBytes) {
    return Status(ErrorCode::kUnsupported,
                  "a value of more than " + std::to_string(kAttributeBytesMax) + " bytes, or a long name; make it a dataset");
  }
  return value;
}

// Attributes that never got a value are left out. Without attributes the header doesn't mention
// their index either.
void add_attributes(const Object& object, h5::ObjectHeader& header) {
  const auto has_value = [](const Attribute& attribute) { return !attribute.waits || attribute.otherwise; };
  if (std::any_of(object.attributes.begin(), object.attributes.end(), has_value)) {
    h5::put_no_index(header.begin(Message::kAttributeInfo));
    header.end();
  }
  for (const Attribute& attribute : object.attributes) {
    if (!has_value(attribute)) {
      continue;
    }
    const Value& value = attribute.waits ? *attribute.otherwise : attribute.value;
    h5::Encoder& message = header.begin(Message::kAttribute);
    h5::put_attribute_head(message, attribute.name, value.datatype_bytes, value.dataspace_bytes());
    h5::put_datatype(message, value.element);
    h5::put_dataspace(message, value.dims);
    message.bytes(value.content);
    header.end();
  }
}

Status add_links(const Object& group, ImageSpace& space, h5::ObjectHeader& header) {
  const bool in_header = static_cast<int64_t>(group.links.size()) <= kLinksInHeaderMax &&
                         std::all_of(group.links.begin(), group.links.end(),
                                     [](const Object* member) { return member->name.size() < kLinkNameMax; });
  if (!in_header) {
    std::vector<h5::Link> links;
    for (const Object* member : group.links) {
      links.push_back({member->name, member->address});
    }
    STRIA_ASSIGN_OR_RETURN(const h5::SymbolTable table, h5::make_symbol_table(std::move(links), space));
    h5::put_symbol_table(header.begin(Message::kSymbolTable), table.tree_address, table.heap_address);
    header.end();
    return Status();
  }
  h5::put_no_index(header.begin(Message::kLinkInfo));
  header.end();
  h5::put_group_info(header.begin(Message::kGroupInfo));
  header.end();
  for (const Object* member : group.links) {
    h5::put_link(header.begin(Message::kLink), member->name, member->address);
    header.end();
  }
  return Status();
}

/// Adds what a dataset's header says of its chunks; gives their index its place.
Status add_chunks(const Object& dataset, ImageSpace& space, h5::ObjectHeader& header) {
  const DatasetSpec spec{
      .path = {}, .element = dataset.value->element, .dims = dataset.value->dims, .chunking = dataset.chunking};
  const ChunkGrid grid(spec);
  STRIA_ASSIGN_OR_RETURN(const int64_t tree, h5::make_chunk_tree(grid, dataset.chunks, space));
  h5::put_zero_fill_value(header.begin(Message::kFillValue));
  header.end();
  h5::put_chunked_layout(header.begin(Message::kLayout), tree, grid.chunk_dims(), spec.element.bytes);
  header.end();
  if (dataset.chunking->filters.any()) {
    h5::put_filter_pipeline(header.begin(Message::kFilterPipeline), dataset.chunking->filters, spec.element.bytes);
    header.end();
  }
  return Status();
}

/// Adds what a dataset's header says of its elements; gives a table's content its place.
Status add_elements(Object& dataset, ImageSpace& space, h5::ObjectHeader& header) {
  const Value& value = *dataset.value;
  if (!value.content.empty()) {
    STRIA_ASSIGN_OR_RETURN(dataset.data_offset, space.place(value.content, std::max(dataset.alignment_bytes, kTableAlignment)));
  }
  h5::put_dataspace(header.begin(Message::kDataspace), value.dims);
  header.end();
  h5::put_datatype(header.begin(Message::kDatatype), value.element);
  header.end();
  if (dataset.chunking) {
    return add_chunks(dataset, space, header);
  }
  h5::put_no_fill_value(header.begin(Message::kFillValue));
  header.end();
  h5::put_contiguous_layout(header.begin(Message::kLayout), dataset.data_offset, value.bytes);
  header.end();
  return Status();
}

/// Gives an object's header its place. The members of a group have theirs already.
Status place_object(Object& object, ImageSpace& space) {
  h5::ObjectHeader header;
  STRIA_RETURN_IF_ERROR(object.is_group() ? add_links(object, space, header) : add_elements(object, space, header));
  add_attributes(object, header);
  STRIA_ASSIGN_OR_RETURN(object.address, space.place(header.finish()));
  return Status();
}

}  // namespace

struct Hdf5Writer::Impl {
  std::deque<Object> objects;  // in the order in which they were made, the root group first
  std::unordered_map<std::string, Object*> object_of_path;
  std::vector<Attribute*> reserved;
  int64_t planned_end = 0;
  int64_t raw_end = ImageSpace::kHeadBytes;
  bool finished = false;

  Impl() { object_of_path[""] = &objects.emplace_back(); }

  Status check_usable() const {
    return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
  }
  Object* find(const std::string& path) const {
    const auto found = object_of_path.find(path);
    return found == object_of_path.end() ? nullptr : found->second;
  }
  /// Adds an object below an existing group.
  Object& add(const std::string& path);
  /// Makes the groups of `path` whose names end before `end`, unless they are there.
  Status make_groups(const std::string& path, size_t end);
  Status make_group(const std::string& path);
  Status make_dataset(const DatasetSpec& spec, Value value, int64_t data_offset);
  /// The place of a dataset's raw data.
  Result<int64_t> place(const DatasetSpec& spec, int64_t bytes);
  Result<Object*> owner_of(const AttributeSpec& attribute) const;
  /// The places of the contents of tables, once they have places.
  std::vector<ByteRange> table_places() const;
};

Object& Hdf5Writer::Impl::add(const std::string& path) {
  const size_t slash = path.rfind('/');
  Object& above = *find(slash == std::string::npos ? "" : path.substr(0, slash));
  Object& object = objects.emplace_back();
  object.name = slash == std::string::npos ? path : path.substr(slash + 1);
  object_of_path[path] = &object;
  above.links.push_back(&object);
  return object;
}

Status Hdf5Writer::Impl::make_groups(const std::string& path, size_t end) {
  for (size_t at = path.find('/'); at < end; at = path.find('/', at + 1)) {
    const std::string above = path.substr(0, at);
    const Status made = make_group(above);
    if (!made.ok()) {
      return Status(ErrorCode::kInvalidArgument, "'" + above + "' is not a group");
    }
  }
  return Status();
}

Status Hdf5Writer::Impl::make_group(const std::string& path) {
  const Object* there = find(path);
  if (there != nullptr) {
    return there->is_group() ? Status() : Status(ErrorCode::kAlreadyExists, "'" + path + "' is a dataset");
  }
  add(path);
  return Status();
}

Result<int64_t> Hdf5Writer::Impl::place(const DatasetSpec& spec, int64_t bytes) {
  if (bytes == 0) {
    return h5::kNowhere;
  }
  if (spec.data_offset >= 0) {
    if (spec.data_offset < ImageSpace::kHeadBytes || spec.data_offset > planned_end || bytes > planned_end - spec.data_offset) {
      return Status(ErrorCode::kInternal, "a dataset's planned place is outside of the plan");
    }
    return spec.data_offset;
  }
  int64_t begin = 0;
  int64_t end = 0;
  if (!checked_add(raw_end, spec.alignment_bytes - 1, &begin) ||
      !checked_add(align_down(begin, spec.alignment_bytes), bytes, &end)) {
    return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
  }
  raw_end = end;
  return align_down(begin, spec.alignment_bytes);
}

Status Hdf5Writer::Impl::make_dataset(const DatasetSpec& spec, Value value, int64_t data_offset) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
  if (path.empty()) {
    return Status(ErrorCode::kInvalidArgument, "it has no name");
  }
  if (find(path) != nullptr) {
    return Status(ErrorCode::kAlreadyExists, "the name is taken");
  }
  STRIA_RETURN_IF_ERROR(make_groups(path, path.size()));
  Object& dataset = add(path);
  dataset.value = std::move(value);
  dataset.alignment_bytes = spec.alignment_bytes;
  dataset.data_offset = data_offset;
  dataset.chunking = spec.chunking;
  return Status();
}

Result<Object*> Hdf5Writer::Impl::owner_of(const AttributeSpec& attribute) const {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(attribute.object_path));
  Object* object = find(path);
  if (object == nullptr) {
    return Status(ErrorCode::kNotFound, "no such object");
  }
  return object;
}

std::vector<ByteRange> Hdf5Writer::Impl::table_places() const {
  std::vector<ByteRange> places;
  for (const Object& object : objects) {
    if (!object.is_group() && !object.value->content.empty()) {
      places.push_back({object.data_offset, object.data_offset + object.value->bytes});
    }
  }
  return places;
}

Hdf5Writer::Hdf5Writer() : impl_(std::make_unique<Impl>()) {}
Hdf5Writer::~Hdf5Writer() = default;

int64_t Hdf5Writer::first_raw_offset() {
  return ImageSpace::kHeadBytes;
}

Status Hdf5Writer::plan(int64_t end) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  if (impl_->raw_end > ImageSpace::kHeadBytes) {
    return Status(ErrorCode::kInternal, "the space for planned datasets is in use");
  }
  impl_->planned_end = impl_->raw_end = std::max(end, ImageSpace::kHeadBytes);
  return Status();
}

Status Hdf5Writer::create_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->make_groups(name, name.size()));
  return impl_->make_group(name);
}

Result<int64_t> Hdf5Writer::create_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Result<int64_t> {
    if (spec.alignment_bytes < 1) {
      return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
    }
    STRIA_ASSIGN_OR_RETURN(Value value, make_value(spec.element, spec.dims));
    if (spec.chunking) {
      STRIA_RETURN_IF_ERROR(check_chunking(spec));
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t offset, impl_->place(spec, spec.chunking ? 0 : value.bytes));
    STRIA_RETURN_IF_ERROR(impl_->make_dataset(spec, std::move(value), offset));
    return offset;
  };
  auto made = make();
  return made.ok() ? made : made.status().with_context(naming(spec));
}

Status Hdf5Writer::place_chunks(const std::string& path, std::vector<StoredChunk> chunks) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  Object* const dataset = impl_->find(name);
  if (dataset == nullptr || !dataset->chunking) {
    return Status(ErrorCode::kInternal, "'" + path + "' is no dataset in chunks");
  }
  dataset->chunks = std::move(chunks);
  return Status();
}

Status Hdf5Writer::create_table(const DatasetSpec& spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    if (spec.alignment_bytes < 1) {
      return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
    }
    STRIA_ASSIGN_OR_RETURN(Value value, make_value(spec.element, spec.dims));
    STRIA_RETURN_IF_ERROR(fill(value, content));
    return impl_->make_dataset(spec, std::move(value), h5::kNowhere);
  };
  const Status made = make();
  return made.ok() ? made : made.with_context(naming(spec));
}

Status Hdf5Writer::write_attribute(const AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Object* const object, impl_->owner_of(attribute));
    STRIA_ASSIGN_OR_RETURN(Value value, make_attribute_value(attribute));
    Attribute* there = object->find(attribute.name);
    if (there == nullptr) {
      object->attributes.push_back({.name = attribute.name, .value = std::move(value), .waits = false, .otherwise = {}});
    } else if (there->waits) {
      there->otherwise = std::move(value);
    } else {
      there->value = std::move(value);
    }
    return Status();
  };
  const Status made = make();
  return made.ok() ? made : made.with_context(naming(attribute));
}

Result<int> Hdf5Writer::reserve_attribute(const AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Object* const object, impl_->owner_of(attribute));
    STRIA_ASSIGN_OR_RETURN(Value value, make_attribute_value(attribute));
    if (object->find(attribute.name) != nullptr) {
      return Status(ErrorCode::kAlreadyExists, "the name is taken");
    }
    object->attributes.push_back({.name = attribute.name, .value = std::move(value), .waits = true, .otherwise = {}});
    impl_->reserved.push_back(&object->attributes.back());
    return Status();
  };
  const Status made = make();
  if (!made.ok()) {
    return made.with_context(naming(attribute));
  }
  return static_cast<int>(impl_->reserved.size()) - 1;
}

Status Hdf5Writer::fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  for (const auto& [number, content] : values) {
    const bool known = number >= 0 && number < static_cast<int>(impl_->reserved.size());
    if (!known || !impl_->reserved[static_cast<size_t>(number)]->waits) {
      return Status(ErrorCode::kInvalidArgument, "no attribute waits for a value under number " + std::to_string(number));
    }
    Attribute& waiting = *impl_->reserved[static_cast<size_t>(number)];
    const Status filled = fill(waiting.value, content);
    if (!filled.ok()) {
      return filled.with_context("cannot set attribute '" + waiting.name + "'");
    }
    waiting.waits = false;
  }
  return Status();
}

Result<SparseImage> Hdf5Writer::finish() {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  impl_->finished = true;
  ImageSpace space(impl_->raw_end);
  STRIA_RETURN_IF_ERROR(space.reserve(h5::kSuperblockBytes, 1).status());
  for (Object& object : impl_->objects) {
    if (!object.is_group()) {
      STRIA_RETURN_IF_ERROR(place_object(object, space));
    }
  }
  // So that members come before their group.
  for (auto group = impl_->objects.rbegin(); group != impl_->objects.rend(); ++group) {
    if (group->is_group()) {
      STRIA_RETURN_IF_ERROR(place_object(*group, space));
    }
  }
  space.write(0, h5::superblock(space.file_bytes(), impl_->objects.front().address));
  SparseImage image = space.take();
  image.superblock = {0, h5::kSuperblockBytes};
  image.tables = impl_->table_places();
  return image;
}

}  // namespace stria::container
