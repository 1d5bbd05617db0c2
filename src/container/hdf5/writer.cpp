#include "container/hdf5/writer.hpp"

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

// Attributes stay in the object's header up to this many; the library moves more to a B-tree.
constexpr unsigned kCompactAttributesMax = 64;
// Names and values below this can't make a header grow by more than the sparse file lets it grow in place.
constexpr size_t kSmallBytes = h5::SparseFile::kExtensionBytesMax / 2;

}  // namespace

struct Hdf5Writer::Impl {
  std::unique_ptr<h5::SparseFile> sparse_owner = std::make_unique<h5::SparseFile>();
  h5::SparseFile& sparse = *sparse_owner;
  Id links;     // link creation: groups above a new object are made
  Id datasets;  // dataset creation: allocated at once, never filled
  Id groups;    // group creation
  Id file;
  bool finished = false;

  ~Impl() {
    const LibraryScope scope;
    links.reset();
    datasets.reset();
    groups.reset();
    static_cast<void>(close());
  }

  Status open();
  Status close();
  Status check_usable() const;
  Status make_group(const std::string& path);
  Result<Id> make_dataset(const DatasetSpec& spec, bool in_image, int64_t* bytes);
  Status add_attribute(hid_t object, const AttributeSpec& attribute, hid_t type, hid_t memory_type, hid_t space);
};

Status Hdf5Writer::Impl::open() {
  STRIA_ASSIGN_OR_RETURN(const Id access, h5::make_access_list(sparse));
  const Id creation(H5Pcreate(H5P_FILE_CREATE));
  links = Id(H5Pcreate(H5P_LINK_CREATE));
  datasets = Id(H5Pcreate(H5P_DATASET_CREATE));
  groups = Id(H5Pcreate(H5P_GROUP_CREATE));
  // 1.8 bounds: checksums on all metadata, and none of the "open for writing" marks of later formats.
  const bool set =
      H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
      H5Pset_create_intermediate_group(links.get(), 1) >= 0 && H5Pset_layout(datasets.get(), H5D_CONTIGUOUS) >= 0 &&
      H5Pset_alloc_time(datasets.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
      H5Pset_fill_time(datasets.get(), H5D_FILL_TIME_NEVER) >= 0 && H5Pset_obj_track_times(datasets.get(), false) >= 0 &&
      H5Pset_attr_phase_change(datasets.get(), kCompactAttributesMax, 0) >= 0 &&
      H5Pset_obj_track_times(groups.get(), false) >= 0 &&
      H5Pset_attr_phase_change(groups.get(), kCompactAttributesMax, 0) >= 0 &&
      H5Pset_obj_track_times(creation.get(), false) >= 0 &&
      H5Pset_attr_phase_change(creation.get(), kCompactAttributesMax, 0) >= 0;
  if (set) {
    file = Id(H5Fcreate("stria", H5F_ACC_TRUNC, creation.get(), access.get()));
  }
  return file.valid() ? Status() : last_error(ErrorCode::kInternal, "cannot make an HDF5 file in memory");
}

Status Hdf5Writer::Impl::close() {
  if (!file.valid() || H5Fclose(file.release()) >= 0) {
    return Status();
  }
  // The library may still have the file open: what is under it must stay for as long as the process.
  static_cast<void>(sparse_owner.release());
  const Status cause = sparse.take_error();
  return cause.ok() ? last_error(ErrorCode::kInternal, "cannot finish the HDF5 file") : cause;
}

Status Hdf5Writer::Impl::check_usable() const {
  return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
}

Status Hdf5Writer::Impl::make_group(const std::string& path) {
  sparse.allow_extension(path.size() < kSmallBytes);
  const Id group(H5Gcreate2(file.get(), path.c_str(), links.get(), groups.get(), H5P_DEFAULT));
  sparse.allow_extension(true);
  if (group.valid()) {
    return Status();
  }
  Status status = last_error(ErrorCode::kInvalidArgument, "cannot make group '" + path + "'");
  if (status.code() != ErrorCode::kAlreadyExists) {
    return status;
  }
  const Id existing(H5Gopen2(file.get(), path.c_str(), H5P_DEFAULT));
  H5Eclear2(H5E_DEFAULT);
  return existing.valid() ? Status() : status;
}

Result<Id> Hdf5Writer::Impl::make_dataset(const DatasetSpec& spec, bool in_image, int64_t* bytes) {
  const std::string what = "cannot make dataset '" + spec.path + "'";
  STRIA_ASSIGN_OR_RETURN(const std::string path, h5::normal_path(spec.path));
  if (path.empty()) {
    return Status(ErrorCode::kInvalidArgument, what + ": it has no name");
  }
  if (spec.alignment_bytes < 1) {
    return Status(ErrorCode::kInvalidArgument, what + ": an alignment of " + std::to_string(spec.alignment_bytes) + " bytes");
  }
  auto type = h5::make_file_type(spec.element);
  Status checked = type.ok() ? h5::total_bytes(spec.dims, spec.element.bytes, bytes) : type.status();
  if (!checked.ok()) {
    return checked.with_context(what);
  }
  STRIA_ASSIGN_OR_RETURN(const Id space, h5::make_space(spec.dims));
  sparse.allow_extension(path.size() < kSmallBytes);
  sparse.place_raw_data(spec.alignment_bytes, in_image);
  Id dataset(H5Dcreate2(file.get(), path.c_str(), type->get(), space.get(), links.get(), datasets.get(), H5P_DEFAULT));
  sparse.place_raw_data(1, false);
  sparse.allow_extension(true);
  if (!dataset.valid()) {
    const Status cause = sparse.take_error();
    return cause.ok() ? last_error(ErrorCode::kInvalidArgument, what) : cause.with_context(what);
  }
  return dataset;
}

Hdf5Writer::Hdf5Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5Writer::~Hdf5Writer() = default;

Result<std::unique_ptr<Hdf5Writer>> Hdf5Writer::create() {
  auto impl = std::make_unique<Impl>();
  {
    const LibraryScope scope;
    STRIA_RETURN_IF_ERROR(impl->open());
  }
  return std::unique_ptr<Hdf5Writer>(new Hdf5Writer(std::move(impl)));
}

Status Hdf5Writer::create_group(const std::string& path) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, h5::normal_path(path));
  return name.empty() ? Status() : impl_->make_group(name);
}

Result<int64_t> Hdf5Writer::create_dataset(const DatasetSpec& spec) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  int64_t bytes = 0;
  STRIA_ASSIGN_OR_RETURN(const Id dataset, impl_->make_dataset(spec, false, &bytes));
  if (bytes == 0) {
    return int64_t{-1};
  }
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) {
    return last_error(ErrorCode::kInternal, "dataset '" + spec.path + "' has no place in the file");
  }
  return static_cast<int64_t>(offset);
}

Status Hdf5Writer::create_table(const DatasetSpec& spec, std::span<const std::byte> content) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  int64_t bytes = 0;
  STRIA_RETURN_IF_ERROR(h5::total_bytes(spec.dims, spec.element.bytes, &bytes).with_context("dataset '" + spec.path + "'"));
  if (static_cast<int64_t>(content.size()) != bytes) {
    return Status(ErrorCode::kInvalidArgument, "dataset '" + spec.path + "' has " + std::to_string(bytes) + " bytes, but " +
                                                   std::to_string(content.size()) + " are given");
  }
  STRIA_ASSIGN_OR_RETURN(const Id dataset, impl_->make_dataset(spec, true, &bytes));
  if (bytes == 0) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const Id memory_type, h5::make_memory_type(spec.element));
  if (H5Dwrite(dataset.get(), memory_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data()) < 0) {
    const Status cause = impl_->sparse.take_error();
    return cause.ok() ? last_error(ErrorCode::kInternal, "cannot write dataset '" + spec.path + "'") : cause;
  }
  return Status();
}

Status Hdf5Writer::Impl::add_attribute(hid_t object, const AttributeSpec& attribute, hid_t type, hid_t memory_type,
                                       hid_t space) {
  const std::string what = "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
  Id made(H5Acreate2(object, attribute.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (!made.valid()) {
    Status status = last_error(ErrorCode::kInvalidArgument, what);
    if (status.code() != ErrorCode::kAlreadyExists) {
      return status;
    }
    if (H5Adelete(object, attribute.name.c_str()) < 0) {
      return last_error(ErrorCode::kInternal, what);
    }
    made = Id(H5Acreate2(object, attribute.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  }
  if (!made.valid() || (!attribute.value.empty() && H5Awrite(made.get(), memory_type, attribute.value.data()) < 0)) {
    return last_error(ErrorCode::kInternal, what);
  }
  return Status();
}

Status Hdf5Writer::write_attribute(const AttributeSpec& attribute) {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const std::string what = "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, what + ": not a name");
  }
  STRIA_ASSIGN_OR_RETURN(const std::string path, h5::normal_path(attribute.object_path));
  int64_t bytes = 0;
  auto type = h5::make_file_type(attribute.element);
  const Status checked = type.ok() ? h5::total_bytes(attribute.dims, attribute.element.bytes, &bytes) : type.status();
  if (!checked.ok()) {
    return checked.with_context(what);
  }
  if (static_cast<int64_t>(attribute.value.size()) != bytes) {
    return Status(ErrorCode::kInvalidArgument, what + ": the value has " + std::to_string(attribute.value.size()) +
                                                   " bytes instead of " + std::to_string(bytes));
  }
  STRIA_ASSIGN_OR_RETURN(const Id memory_type, h5::make_memory_type(attribute.element));
  STRIA_ASSIGN_OR_RETURN(const Id space, h5::make_space(attribute.dims));
  const Id object(H5Oopen(impl_->file.get(), path.empty() ? "/" : path.c_str(), H5P_DEFAULT));
  if (!object.valid()) {
    return last_error(ErrorCode::kInvalidArgument, what);
  }
  const bool is_small =
      attribute.element.kind != ElementSpec::Kind::kCompound && attribute.name.size() + attribute.value.size() < kSmallBytes;
  impl_->sparse.allow_extension(is_small);
  const Status status = impl_->add_attribute(object.get(), attribute, type->get(), memory_type.get(), space.get());
  impl_->sparse.allow_extension(true);
  return status;
}

Result<SparseImage> Hdf5Writer::finish() {
  const LibraryScope scope;
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  impl_->finished = true;
  STRIA_RETURN_IF_ERROR(impl_->close());
  return impl_->sparse.take_image();
}

}  // namespace stria::container
