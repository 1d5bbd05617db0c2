#include "container/hdf5/writer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "container/hdf5/element_types.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/paths.hpp"
#include "container/hdf5/spaces.hpp"
#include "container/hdf5/sparse_file.hpp"

namespace stria::container {

namespace {

using h5::Id;
using h5::last_error;
using h5::LibraryScope;
using h5::TypePair;
using RawPlace = h5::SparseFile::RawPlace;

// Attributes stay in the object's header up to this many; the library moves more to a B-tree.
constexpr unsigned kCompactAttributesMax = 64;
// Links stay in the root group's header up to this many, which is quicker to make and to read than the heap and the B-tree that
// the library moves more to.
constexpr int64_t kCompactLinksMax = 128;
constexpr unsigned kLinkNameBytes = 16;  // a guess that sizes the header
// Names and values below this can't make a header grow by more than the sparse file lets it grow in place.
constexpr size_t kSmallBytes = h5::SparseFile::kExtensionBytesMax / 2;
// Larger values don't fit into an object's header; the library would keep them as raw data of its own.
constexpr int64_t kAttributeBytesMax = 60000;

std::string naming(const AttributeSpec& attribute) {
  return "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
}

// What both kinds of values have: types, and a shape that the content must fit.
struct Prepared {
  TypePair types;
  hid_t space = H5I_INVALID_HID;
  int64_t bytes = 0;
};

// An attribute whose value comes later.
struct Reserved {
  std::string object_path;
  std::string name;
  ElementSpec element;
  Id attribute;  // open until it has its value
  int64_t bytes = 0;
  std::optional<AttributeSpec> otherwise;  // what write_attribute() said meanwhile: the value if no other comes
};

Status check_size(size_t given_bytes, int64_t wanted_bytes) {
  if (static_cast<int64_t>(given_bytes) == wanted_bytes) {
    return Status();
  }
  return Status(ErrorCode::kInvalidArgument, "its type and shape make " + std::to_string(wanted_bytes) + " bytes, but " +
                                                 std::to_string(given_bytes) + " are given");
}

}  // namespace

struct Hdf5Writer::Impl {
  std::unique_ptr<h5::SparseFile> sparse_owner = std::make_unique<h5::SparseFile>();
  h5::SparseFile& sparse = *sparse_owner;
  Id datasets;  // dataset creation: allocated at once, never filled
  Id groups;    // group creation
  Id file;
  // The object used last stays open: a dataset's attributes mostly follow it.
  Id recent;
  std::string recent_path;
  std::set<std::string> known_groups;
  std::map<std::vector<int64_t>, Id> spaces;  // by their dimensions: most datasets have the same few
  std::vector<Reserved> reserved;
  bool finished = false;

  ~Impl() {
    const LibraryScope scope;
    static_cast<void>(close());
  }

  Status open(int64_t root_objects);
  Status close();
  Status check_usable() const;
  Status set_properties(hid_t file_access, hid_t file_creation);
  Result<Prepared> prepare(const ElementSpec& element, const std::vector<int64_t>& dims);
  /// Makes the groups of `path` whose names end before `end`, unless they are there.
  Status make_groups(const std::string& path, size_t end);
  Status make_group(const std::string& path);
  Status make_dataset(const DatasetSpec& spec, const Prepared& prepared, RawPlace place);
  Status open_recent(const std::string& path);
  /// Makes an attribute and leaves it open; `replaces` one of that name, or refuses.
  Result<Id> make_attribute(const AttributeSpec& attribute, bool replaces);
  Result<Id> add_attribute(const AttributeSpec& attribute, const Prepared& prepared, bool replaces);
  Reserved* find_reserved(const std::string& path, const std::string& name);
  Status fill(Reserved& waiting, std::span<const std::byte> value);
  Status remove_unfilled();
  /// The status of a failed call; what the sparse file said comes first.
  Status failure(ErrorCode code, const std::string& what);
};

Status Hdf5Writer::Impl::failure(ErrorCode code, const std::string& what) {
  const Status cause = sparse.take_error();
  const Status library = last_error(code, what);
  return cause.ok() ? library : cause.with_context(what);
}

Status Hdf5Writer::Impl::set_properties(hid_t file_access, hid_t file_creation) {
  // 1.8 bounds: checksums on all metadata, and none of the "open for writing" marks of later formats.
  bool set = H5Pset_libver_bounds(file_access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
             H5Pset_layout(datasets.get(), H5D_CONTIGUOUS) >= 0 &&
             H5Pset_alloc_time(datasets.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
             H5Pset_fill_time(datasets.get(), H5D_FILL_TIME_NEVER) >= 0;
  // Without times of change the same content gives the same bytes.
  for (const hid_t creation : {datasets.get(), groups.get(), file_creation}) {
    set = set && H5Pset_obj_track_times(creation, false) >= 0 &&
          H5Pset_attr_phase_change(creation, kCompactAttributesMax, 0) >= 0;
  }
  return set ? Status() : last_error(ErrorCode::kInternal, "cannot set up libhdf5");
}

Result<Prepared> Hdf5Writer::Impl::prepare(const ElementSpec& element, const std::vector<int64_t>& dims) {
  Prepared prepared;
  STRIA_ASSIGN_OR_RETURN(prepared.types, h5::make_types(element));
  STRIA_RETURN_IF_ERROR(h5::total_bytes(dims, element.bytes, &prepared.bytes));
  Id& space = spaces[dims];
  if (!space.valid()) {
    STRIA_ASSIGN_OR_RETURN(space, h5::make_space(dims));
  }
  prepared.space = space.get();
  return prepared;
}

Status Hdf5Writer::Impl::open(int64_t root_objects) {
  STRIA_ASSIGN_OR_RETURN(const Id access, h5::make_access_list(sparse));
  const Id creation(H5Pcreate(H5P_FILE_CREATE));
  datasets = Id(H5Pcreate(H5P_DATASET_CREATE));
  groups = Id(H5Pcreate(H5P_GROUP_CREATE));
  STRIA_RETURN_IF_ERROR(set_properties(access.get(), creation.get()));
  if (root_objects > 0 && root_objects <= kCompactLinksMax) {
    const bool set = H5Pset_link_phase_change(creation.get(), static_cast<unsigned>(kCompactLinksMax), 0) >= 0 &&
                     H5Pset_est_link_info(creation.get(), static_cast<unsigned>(root_objects), kLinkNameBytes) >= 0;
    STRIA_RETURN_IF_ERROR(set ? Status() : last_error(ErrorCode::kInternal, "cannot set up libhdf5"));
  }
  file = Id(H5Fcreate("stria", H5F_ACC_TRUNC, creation.get(), access.get()));
  return file.valid() ? Status() : failure(ErrorCode::kInternal, "cannot make an HDF5 file in memory");
}

Status Hdf5Writer::Impl::close() {
  recent.reset();
  reserved.clear();
  spaces.clear();
  datasets.reset();
  groups.reset();
  if (!file.valid() || H5Fclose(file.release()) >= 0) {
    return Status();
  }
  // The library may still have the file open: what is under it must stay for as long as the process.
  const Status status = failure(ErrorCode::kInternal, "cannot finish the HDF5 file");
  static_cast<void>(sparse_owner.release());
  return status;
}

Status Hdf5Writer::Impl::check_usable() const {
  return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
}

// The library would make missing groups itself, but with times in them.
Status Hdf5Writer::Impl::make_groups(const std::string& path, size_t end) {
  for (size_t at = path.find('/'); at < end; at = path.find('/', at + 1)) {
    const std::string above = path.substr(0, at);
    const Status made = make_group(above);
    if (!made.ok()) {
      return made.code() == ErrorCode::kAlreadyExists ? Status(ErrorCode::kInvalidArgument, "'" + above + "' is not a group")
                                                      : made;
    }
  }
  return Status();
}

Status Hdf5Writer::Impl::make_group(const std::string& path) {
  if (known_groups.contains(path)) {
    return Status();
  }
  sparse.allow_extension(path.size() < kSmallBytes);
  const Id group(H5Gcreate2(file.get(), path.c_str(), H5P_DEFAULT, groups.get(), H5P_DEFAULT));
  sparse.allow_extension(true);
  if (!group.valid()) {
    return failure(ErrorCode::kInvalidArgument, "cannot make group '" + path + "'");
  }
  known_groups.insert(path);
  return Status();
}

Status Hdf5Writer::Impl::make_dataset(const DatasetSpec& spec, const Prepared& prepared, RawPlace place) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, h5::normal_path(spec.path));
  if (path.empty()) {
    return Status(ErrorCode::kInvalidArgument, "it has no name");
  }
  if (spec.alignment_bytes < 1) {
    return Status(ErrorCode::kInvalidArgument, "an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
  }
  STRIA_RETURN_IF_ERROR(make_groups(path, path.size()));
  sparse.allow_extension(path.size() < kSmallBytes);
  sparse.place_raw_data(place, spec.alignment_bytes);
  if (place == RawPlace::kPlanned) {
    sparse.place_next_at(spec.data_offset);
  }
  recent.reset();  // now, as closing it later would clear the library's error
  recent = Id(H5Dcreate2(file.get(), path.c_str(), prepared.types.file.get(), prepared.space, H5P_DEFAULT, datasets.get(),
                         H5P_DEFAULT));
  sparse.place_raw_data(RawPlace::kOwnBlock, 1);
  sparse.allow_extension(true);
  recent_path = path;
  return recent.valid() ? Status() : failure(ErrorCode::kInvalidArgument, "libhdf5");
}

Status Hdf5Writer::Impl::open_recent(const std::string& path) {
  if (recent.valid() && recent_path == path) {
    return Status();
  }
  recent.reset();
  recent = Id(H5Oopen(file.get(), path.empty() ? "/" : path.c_str(), H5P_DEFAULT));
  recent_path = path;
  return recent.valid() ? Status() : failure(ErrorCode::kInvalidArgument, "no such object");
}

Result<Id> Hdf5Writer::Impl::make_attribute(const AttributeSpec& attribute, bool replaces) {
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, "not a name");
  }
  STRIA_ASSIGN_OR_RETURN(const std::string path, h5::normal_path(attribute.object_path));
  STRIA_ASSIGN_OR_RETURN(const Prepared prepared, prepare(attribute.element, attribute.dims));
  STRIA_RETURN_IF_ERROR(check_size(attribute.value.size(), prepared.bytes));
  if (prepared.bytes > kAttributeBytesMax) {
    return Status(ErrorCode::kUnsupported,
                  "a value of more than " + std::to_string(kAttributeBytesMax) + " bytes; make it a dataset");
  }
  STRIA_RETURN_IF_ERROR(open_recent(path));
  const bool is_small =
      attribute.element.kind != ElementSpec::Kind::kCompound && attribute.name.size() + attribute.value.size() < kSmallBytes;
  sparse.allow_extension(is_small);
  Result<Id> made = add_attribute(attribute, prepared, replaces);
  sparse.allow_extension(true);
  return made;
}

Result<Id> Hdf5Writer::Impl::add_attribute(const AttributeSpec& attribute, const Prepared& prepared, bool replaces) {
  const auto make = [&] {
    return Id(
        H5Acreate2(recent.get(), attribute.name.c_str(), prepared.types.file.get(), prepared.space, H5P_DEFAULT, H5P_DEFAULT));
  };
  Id made = make();
  if (!made.valid()) {
    Status status = failure(ErrorCode::kInvalidArgument, "libhdf5");
    if (status.code() != ErrorCode::kAlreadyExists || !replaces) {
      return status;
    }
    if (Reserved* waiting = find_reserved(recent_path, attribute.name); waiting != nullptr) {
      waiting->otherwise = attribute;
      return made;
    }
    if (H5Adelete(recent.get(), attribute.name.c_str()) < 0) {
      return failure(ErrorCode::kInternal, "the one of that name can't be replaced");
    }
    made = make();
  }
  if (!made.valid() || (prepared.bytes > 0 && H5Awrite(made.get(), prepared.types.memory(), attribute.value.data()) < 0)) {
    return failure(ErrorCode::kInvalidArgument, "libhdf5");
  }
  return made;
}

Reserved* Hdf5Writer::Impl::find_reserved(const std::string& path, const std::string& name) {
  const auto found = std::find_if(reserved.begin(), reserved.end(), [&](const Reserved& waiting) {
    return waiting.attribute.valid() && waiting.object_path == path && waiting.name == name;
  });
  return found == reserved.end() ? nullptr : &*found;
}

Status Hdf5Writer::Impl::fill(Reserved& waiting, std::span<const std::byte> value) {
  STRIA_RETURN_IF_ERROR(check_size(value.size(), waiting.bytes));
  STRIA_ASSIGN_OR_RETURN(const TypePair types, h5::make_types(waiting.element));
  if (waiting.bytes > 0 && H5Awrite(waiting.attribute.get(), types.memory(), value.data()) < 0) {
    return failure(ErrorCode::kInternal, "libhdf5");
  }
  waiting.attribute.reset();
  return Status();
}

Status Hdf5Writer::Impl::remove_unfilled() {
  for (Reserved& unfilled : reserved) {
    if (!unfilled.attribute.valid()) {
      continue;
    }
    unfilled.attribute.reset();
    const std::string path = "/" + unfilled.object_path;
    if (H5Adelete_by_name(file.get(), path.c_str(), unfilled.name.c_str(), H5P_DEFAULT) < 0) {
      return failure(ErrorCode::kInternal, "cannot remove attribute '" + unfilled.name + "' of '" + path + "'");
    }
    if (unfilled.otherwise) {
      STRIA_RETURN_IF_ERROR(make_attribute(*unfilled.otherwise, true).status());
    }
  }
  return Status();
}

Hdf5Writer::Hdf5Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5Writer::~Hdf5Writer() = default;

Result<std::unique_ptr<Hdf5Writer>> Hdf5Writer::create(int64_t root_objects) {
  auto impl = std::make_unique<Impl>();
  {
    const LibraryScope scope;
    STRIA_RETURN_IF_ERROR(impl->open(root_objects));
  }
  return std::unique_ptr<Hdf5Writer>(new Hdf5Writer(std::move(impl)));
}

int64_t Hdf5Writer::first_raw_offset() {
  return h5::SparseFile::kBlockBytes;
}

Status Hdf5Writer::plan(int64_t end) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  return impl_->sparse.plan_raw_data(end);
}

Status Hdf5Writer::create_group(const std::string& path) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, h5::normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->make_groups(name, name.size()));
  return name.empty() ? Status() : impl_->make_group(name);
}

Result<int64_t> Hdf5Writer::create_dataset(const DatasetSpec& spec) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const std::string what = "cannot make dataset '" + spec.path + "'";
  const auto prepared = impl_->prepare(spec.element, spec.dims);
  const Status made =
      prepared.ok() ? impl_->make_dataset(spec, *prepared, spec.data_offset >= 0 ? RawPlace::kPlanned : RawPlace::kOutside)
                    : prepared.status();
  if (!made.ok()) {
    return made.with_context(what);
  }
  if (prepared->bytes == 0) {
    return int64_t{-1};
  }
  const haddr_t offset = H5Dget_offset(impl_->recent.get());
  if (offset == HADDR_UNDEF || impl_->sparse.is_in_image(static_cast<int64_t>(offset))) {
    return impl_->failure(ErrorCode::kInternal, what);
  }
  return static_cast<int64_t>(offset);
}

Status Hdf5Writer::create_table(const DatasetSpec& spec, std::span<const std::byte> content) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const std::string what = "cannot make dataset '" + spec.path + "'";
  const auto prepared = impl_->prepare(spec.element, spec.dims);
  Status status = prepared.ok() ? check_size(content.size(), prepared->bytes) : prepared.status();
  if (status.ok()) {
    status = impl_->make_dataset(spec, *prepared, RawPlace::kWithMetadata);
  }
  if (!status.ok() || content.empty()) {
    return status.with_context(what);
  }
  if (H5Dwrite(impl_->recent.get(), prepared->types.memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data()) < 0) {
    return impl_->failure(ErrorCode::kInternal, what);
  }
  return Status();
}

Status Hdf5Writer::write_attribute(const AttributeSpec& attribute) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const Status status = impl_->make_attribute(attribute, true).status();
  return status.ok() ? status : status.with_context(naming(attribute));
}

Result<int> Hdf5Writer::reserve_attribute(const AttributeSpec& attribute) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  auto made = impl_->make_attribute(attribute, false);
  if (!made.ok()) {
    return made.status().with_context(naming(attribute));
  }
  impl_->reserved.push_back({impl_->recent_path, attribute.name, attribute.element, std::move(*made),
                             static_cast<int64_t>(attribute.value.size()), std::nullopt});
  return static_cast<int>(impl_->reserved.size()) - 1;
}

Status Hdf5Writer::fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  for (const auto& [number, value] : values) {
    const bool known = number >= 0 && number < static_cast<int>(impl_->reserved.size());
    if (!known || !impl_->reserved[static_cast<size_t>(number)].attribute.valid()) {
      return Status(ErrorCode::kInvalidArgument, "no attribute waits for a value under number " + std::to_string(number));
    }
    Reserved& waiting = impl_->reserved[static_cast<size_t>(number)];
    const Status status = impl_->fill(waiting, value);
    if (!status.ok()) {
      return status.with_context("cannot set attribute '" + waiting.name + "' of '" + waiting.object_path + "'");
    }
  }
  return Status();
}

Result<SparseImage> Hdf5Writer::finish() {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  impl_->finished = true;
  STRIA_RETURN_IF_ERROR(impl_->remove_unfilled());
  STRIA_RETURN_IF_ERROR(impl_->close());
  return impl_->sparse.take_image();
}

}  // namespace stria::container
