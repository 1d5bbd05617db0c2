#include "container/hdf5/write/writer.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/sizes.hpp"
#include "container/hdf5/write/objects.hpp"
#include "container/object_path.hpp"

namespace stria::container {

namespace {

using h5::Attribute;
using h5::ImageSpace;
using h5::Object;
using h5::Value;

std::string naming(const AttributeSpec& attribute) {
  return "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
}

std::string naming(const DatasetSpec& dataset) {
  return "cannot make dataset '" + dataset.path + "'";
}

}  // namespace

struct Hdf5Writer::Impl {
  std::deque<Object> objects;  // in the order in which they were made, the root group first
  std::unordered_map<std::string, Object*> object_of_path;
  std::vector<Attribute*> reserved;
  const h5::OldFile* old_file = nullptr;  // that grows
  int64_t first_raw = ImageSpace::kHeadBytes;
  int64_t planned_end = 0;
  int64_t raw_end = ImageSpace::kHeadBytes;
  bool finished = false;

  explicit Impl(const h5::OldFile* old) : old_file(old) {
    Object& root = objects.emplace_back();
    object_of_path[""] = &root;
    if (old_file != nullptr) {
      root.is_old = true;
      root.address = old_file->root_address();
    }
  }

  Status check_usable() const {
    return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
  }
  Object* find(const std::string& path) const {
    const auto found = object_of_path.find(path);
    return found == object_of_path.end() ? nullptr : found->second;
  }
  /// Adds an object below an existing group.
  Result<Object*> add(const std::string& path, Object::Kind kind);
  /// Learns what the old file has on the way to `path`, so that find() sees it.
  Status look_for(const std::string& path);
  Status learn(Object& object, const std::string& path);
  /// Notes that an object changes, which its file may have already: it gets another header, and so
  /// do the groups above it.
  Status change(Object& object);
  /// Makes the groups of `path` whose names end before `end`, unless they are there.
  Status make_groups(const std::string& path, size_t end);
  Status make_group(const std::string& path);
  Status make_dataset(const DatasetSpec& spec, Value value, int64_t data_offset);
  /// The place of a dataset's raw data.
  Result<int64_t> place(const DatasetSpec& spec, int64_t bytes);
  Result<Object*> owner_of(const AttributeSpec& attribute);
  /// The places of the contents of tables, once they have places.
  std::vector<ByteRange> table_places() const;
};

Result<Object*> Hdf5Writer::Impl::add(const std::string& path, Object::Kind kind) {
  const size_t slash = path.rfind('/');
  Object& above = *find(slash == std::string::npos ? "" : path.substr(0, slash));
  STRIA_RETURN_IF_ERROR(change(above));
  Object& object = objects.emplace_back();
  object.name = slash == std::string::npos ? path : path.substr(slash + 1);
  object.kind = kind;
  object.above = &above;
  object_of_path[path] = &object;
  above.links.push_back(&object);
  return &object;
}

Status Hdf5Writer::Impl::learn(Object& object, const std::string& path) {
  if (!object.is_old || object.is_known) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(object.before, old_file->header(object.address));
  object.is_known = true;
  object.kind = h5::is_group(object.before) ? Object::Kind::kGroup : Object::Kind::kDataset;
  if (!object.is_group()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<h5::Link> links, old_file->links(path));
  for (const h5::Link& link : links) {
    Object& member = objects.emplace_back();
    member.name = link.name;
    member.above = &object;
    member.address = link.header_address;
    member.is_old = true;
    object_of_path[path.empty() ? link.name : path + "/" + link.name] = &member;
    object.links.push_back(&member);
  }
  return Status();
}

Status Hdf5Writer::Impl::look_for(const std::string& path) {
  if (old_file == nullptr) {
    return Status();
  }
  Object* object = &objects.front();
  STRIA_RETURN_IF_ERROR(learn(*object, ""));
  for (size_t end = 0; object != nullptr && end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    object = find(part);
    if (object != nullptr) {
      STRIA_RETURN_IF_ERROR(learn(*object, part).with_context("'" + part + "'"));
    }
  }
  return Status();
}

Status Hdf5Writer::Impl::change(Object& object) {
  for (Object* each = &object; each != nullptr && each->is_old && !each->changed; each = each->above) {
    STRIA_RETURN_IF_ERROR(
        h5::check_replaceable(*each).with_context("'" + (each->name.empty() ? "/" : each->name) + "' can't be changed"));
    each->changed = true;
  }
  return Status();
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
  return add(path, Object::Kind::kGroup).status();
}

Result<int64_t> Hdf5Writer::Impl::place(const DatasetSpec& spec, int64_t bytes) {
  if (bytes == 0) {
    return h5::kNowhere;
  }
  if (spec.data_offset >= 0) {
    if (spec.data_offset < first_raw || spec.data_offset > planned_end || bytes > planned_end - spec.data_offset) {
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
  STRIA_RETURN_IF_ERROR(look_for(path));
  if (find(path) != nullptr) {
    return Status(ErrorCode::kAlreadyExists, "the name is taken");
  }
  STRIA_RETURN_IF_ERROR(make_groups(path, path.size()));
  STRIA_ASSIGN_OR_RETURN(Object* const dataset, add(path, Object::Kind::kDataset));
  dataset->value = std::move(value);
  dataset->alignment_bytes = spec.alignment_bytes;
  dataset->data_offset = data_offset;
  dataset->chunking = spec.chunking;
  dataset->extendable = spec.extendable;
  dataset->elsewhere = spec.elsewhere;
  return Status();
}

Result<Object*> Hdf5Writer::Impl::owner_of(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(attribute.object_path));
  STRIA_RETURN_IF_ERROR(look_for(path));
  Object* object = find(path);
  if (object == nullptr) {
    return Status(ErrorCode::kNotFound, "no such object");
  }
  STRIA_RETURN_IF_ERROR(h5::check_attribute_replaceable(*object));
  STRIA_RETURN_IF_ERROR(change(*object));
  return object;
}

std::vector<ByteRange> Hdf5Writer::Impl::table_places() const {
  std::vector<ByteRange> places;
  for (const Object& object : objects) {
    if (object.value && !object.value->content.empty()) {
      places.push_back({object.data_offset, object.data_offset + object.value->bytes});
    }
  }
  return places;
}

Hdf5Writer::Hdf5Writer() : impl_(std::make_unique<Impl>(nullptr)) {}
Hdf5Writer::Hdf5Writer(const h5::OldFile& old_file) : impl_(std::make_unique<Impl>(&old_file)) {}
Hdf5Writer::~Hdf5Writer() = default;

int64_t Hdf5Writer::first_raw_offset() {
  return ImageSpace::kHeadBytes;
}

Status Hdf5Writer::plan(int64_t end) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  if (impl_->raw_end > ImageSpace::kHeadBytes) {
    return Status(ErrorCode::kInternal, "the space for planned datasets is in use");
  }
  const bool is_new = impl_->old_file == nullptr;
  impl_->first_raw = is_new ? ImageSpace::kHeadBytes : 0;
  impl_->planned_end = impl_->raw_end = is_new ? std::max(end, ImageSpace::kHeadBytes) : end;
  return Status();
}

Status Hdf5Writer::create_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->look_for(name));
  STRIA_RETURN_IF_ERROR(impl_->make_groups(name, name.size()));
  return impl_->make_group(name);
}

Result<int64_t> Hdf5Writer::create_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Result<int64_t> {
    if (spec.alignment_bytes < 1) {
      return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
    }
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_value(spec.element, spec.dims));
    if (spec.chunking) {
      STRIA_RETURN_IF_ERROR(check_chunking(spec));
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t offset,
                           impl_->place(spec, spec.chunking || !spec.elsewhere.empty() ? 0 : value.bytes));
    STRIA_RETURN_IF_ERROR(impl_->make_dataset(spec, std::move(value), offset));
    return offset;
  };
  auto made = make();
  return made.ok() ? made : made.status().with_context(naming(spec));
}

Status Hdf5Writer::extend_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto extend = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
    STRIA_RETURN_IF_ERROR(impl_->look_for(path));
    Object* const dataset = impl_->find(path);
    if (dataset == nullptr || dataset->is_group() || !spec.chunking || !spec.extendable) {
      return Status(ErrorCode::kInternal, "there is no such dataset that can get longer");
    }
    STRIA_RETURN_IF_ERROR(check_chunking(spec));
    STRIA_ASSIGN_OR_RETURN(dataset->value, h5::make_value(spec.element, spec.dims));
    dataset->chunking = spec.chunking;
    dataset->extendable = true;
    return impl_->change(*dataset);
  };
  return extend().with_context("cannot extend dataset '" + spec.path + "'");
}

Status Hdf5Writer::remove(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->look_for(name));
  Object* const object = impl_->find(name);
  if (object == nullptr || !object->is_old || object->above == nullptr) {
    return object == nullptr ? Status() : Status(ErrorCode::kInternal, "'" + path + "' can't be removed");
  }
  STRIA_RETURN_IF_ERROR(impl_->change(*object->above));
  std::vector<Object*>& links = object->above->links;
  links.erase(std::find(links.begin(), links.end(), object));
  impl_->object_of_path.erase(name);
  return Status();
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
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_value(spec.element, spec.dims));
    STRIA_RETURN_IF_ERROR(h5::fill(value, content));
    return impl_->make_dataset(spec, std::move(value), h5::kNowhere);
  };
  const Status made = make();
  return made.ok() ? made : made.with_context(naming(spec));
}

Status Hdf5Writer::write_attribute(const AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Object* const object, impl_->owner_of(attribute));
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_attribute_value(attribute));
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
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_attribute_value(attribute));
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
    const Status filled = h5::fill(waiting.value, content);
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
  const bool is_new = impl_->old_file == nullptr;
  ImageSpace space(impl_->raw_end, is_new);
  if (is_new) {
    STRIA_RETURN_IF_ERROR(space.reserve(h5::kSuperblockBytes, 1).status());
  }
  // So that the metadata between tables, which have sums of their own, are one stretch.
  for (Object& object : impl_->objects) {
    STRIA_RETURN_IF_ERROR(is_new ? Status() : h5::place_content(object, space));
  }
  STRIA_RETURN_IF_ERROR(h5::place_mappings(impl_->objects, space));
  for (Object& object : impl_->objects) {
    if (!object.is_group()) {
      STRIA_RETURN_IF_ERROR(h5::place_object(object, space));
    }
  }
  // So that members come before their group.
  for (auto group = impl_->objects.rbegin(); group != impl_->objects.rend(); ++group) {
    if (group->is_group()) {
      STRIA_RETURN_IF_ERROR(h5::place_object(*group, space));
    }
  }
  const int64_t root = impl_->objects.front().address;
  if (is_new) {
    space.write(0, h5::superblock(space.file_bytes(), root));
  }
  SparseImage image = space.take();
  image.superblock = {0, h5::kSuperblockBytes};
  if (!is_new) {
    image.switch_over = impl_->old_file->superblock(image.file_bytes, root);
  }
  image.tables = impl_->table_places();
  return image;
}

}  // namespace stria::container
