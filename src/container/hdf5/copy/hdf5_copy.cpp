#include "container/hdf5/copy/hdf5_copy.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "container/hdf5/copy/overlaid_file.hpp"
#include "container/hdf5/copy/plain_headers.hpp"
#include "container/hdf5/copy/references.hpp"
#include "container/hdf5/copy/scale_lists.hpp"
#include "container/hdf5/copy/survey.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/form/hidden_content.hpp"
#include "container/hdf5/read/driver/file_driver.hpp"
#include "container/hdf5/read/objects.hpp"

namespace stria::container {

using h5::Id;
using h5::last_error;
using h5::LibraryScope;

namespace {

constexpr const char* kRoot = "/all";  // the copy, in the group that the new file begins with
constexpr const char* kScratch = "/scratch";

constexpr int64_t kOverlaidBytes = int64_t{1} << 62;  // bytes of a file with its parts behind it
constexpr int64_t kFirstBlock = int64_t{1} << 55;     // the place of what is added to headers

/// Returns how much room libhdf5 takes for metadata at once. They lie together then, and little of
/// it stays unused.
hsize_t metadata_block_bytes(int64_t file_bytes) {
  return static_cast<hsize_t>(std::clamp<int64_t>(file_bytes / 4096, 2048, 1 << 20));
}

/// The oldest release that reads the old file reads the new one too.
H5F_libver_t release_of(int64_t superblock_version) {
  return superblock_version < 2 ? H5F_LIBVER_EARLIEST : superblock_version == 2 ? H5F_LIBVER_V18 : H5F_LIBVER_V110;
}

Result<Id> element_type(const ElementSpec& element) {
  if (element.kind == ElementSpec::Kind::kCompound) {
    Id type(H5Tcreate(H5T_COMPOUND, static_cast<size_t>(element.bytes)));
    for (const ElementSpec::Member& member : element.members) {
      STRIA_ASSIGN_OR_RETURN(const Id of_member, element_type(member.element));
      if (H5Tinsert(type.get(), member.name.c_str(), static_cast<size_t>(member.offset_bytes), of_member.get()) < 0) {
        return last_error(ErrorCode::kInternal, "cannot make a type of records");
      }
    }
    return type;
  }
  if (element.kind == ElementSpec::Kind::kString) {
    Id type(H5Tcopy(H5T_C_S1));
    if (H5Tset_size(type.get(), static_cast<size_t>(element.bytes)) < 0 || H5Tset_strpad(type.get(), H5T_STR_NULLPAD) < 0) {
      return last_error(ErrorCode::kInternal, "cannot make a type of strings");
    }
    return type;
  }
  const hid_t number = element.number == ElementType::kUint8    ? H5T_STD_U8LE
                       : element.number == ElementType::kUint64 ? H5T_STD_U64LE
                                                                : H5T_STD_I64LE;
  return Id(H5Tcopy(number));
}

/// A file that libhdf5 reads. Its list holds the driver's class, and so outlives it.
struct ReadFile {
  explicit ReadFile(h5::StorageFile& storage) : guard(storage) {}
  h5::MetadataGuard guard;
  Id access;
  Id file;
};

Result<std::unique_ptr<ReadFile>> open_for_reading(h5::StorageFile& source, const std::string& name) {
  auto opened = std::make_unique<ReadFile>(source);
  STRIA_ASSIGN_OR_RETURN(opened->access, h5::make_access_list(source, opened->guard));
  opened->file = Id(H5Fopen(name.c_str(), H5F_ACC_RDONLY, opened->access.get()));
  return opened;
}

/// The addresses of headers by path, group by group.
class Addresses {
 public:
  explicit Addresses(hid_t file) : file_(file) {}
  Result<int64_t> of(const std::string& path);

 private:
  hid_t file_;
  std::map<std::string, std::map<std::string, int64_t>> groups_;
};

Result<int64_t> Addresses::of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string group = slash == std::string::npos ? "" : path.substr(0, slash);
  if (groups_.count(group) == 0) {
    const Id opened(H5Gopen2(file_, ("/" + group).c_str(), H5P_DEFAULT));
    if (!opened.valid()) {
      return last_error(ErrorCode::kCorrupted, "group '/" + group + "' can't be read");
    }
    STRIA_ASSIGN_OR_RETURN(const auto members, h5::list_members(opened.get()));
    for (const h5::GroupMember& member : members) {
      groups_[group][member.name] = member.address;
    }
  }
  return groups_[group][path.substr(slash == std::string::npos ? 0 : slash + 1)];
}

}  // namespace

struct Hdf5Copy::Impl {
  Impl(storage::File& from, storage::File& to, int64_t from_bytes)
      : name(from.path()), from_storage(from), to_storage(to), source(from, from_bytes), target(to) {}
  ~Impl() {
    const LibraryScope scope;
    static_cast<void>(close());
  }

  Status open(std::span<const PlacedData> elsewhere);
  Status open_view(std::span<const PlacedData> elsewhere);
  Status make_plain(std::span<const PlacedData> elsewhere);
  Status create();
  Status copy_user_block();
  Status copy_objects();
  Status follow_up(hid_t scratch);
  Status find_culprit(const Status& failure);
  Status close();
  /// Returns the error of libhdf5 as a Status. An error of the storage is preferred.
  Status failure(ErrorCode code, const std::string& what);
  Status take_storage_error();
  /// Returns what is copied as a whole.
  hid_t copied_file() const { return view != nullptr ? view->file.get() : old_file->file.get(); }
  std::string path_in_new(const std::string& path) const { return std::string(kRoot) + "/" + path; }

  std::string name;
  storage::File& from_storage;
  storage::File& to_storage;
  h5::StorageFile source;
  h5::TargetFile target;
  h5::EditedSuperblock old_superblock;
  h5::TargetAccess access;
  Id new_file;
  std::unique_ptr<ReadFile> old_file;
  // Where libhdf5 mustn't see all of it as it is.
  std::unique_ptr<h5::OverlaidFile> overlaid;
  std::unique_ptr<h5::StorageFile> view_source;
  std::unique_ptr<ReadFile> view;
  h5::Surveyed hidden;  // in the view
  std::vector<h5::HeaderPatch> patches;
  int64_t new_root = -1;
};

Status Hdf5Copy::Impl::take_storage_error() {
  Status cause = source.take_error();
  cause.update(view_source != nullptr ? view_source->take_error() : Status());
  cause.update(target.take_error());
  return cause;
}

Status Hdf5Copy::Impl::failure(ErrorCode code, const std::string& what) {
  const Status cause = take_storage_error();
  const Status library = last_error(code, what);
  return (cause.ok() ? library : cause.with_context(what)).with_context(name);
}

Status Hdf5Copy::Impl::open(std::span<const PlacedData> elsewhere) {
  STRIA_ASSIGN_OR_RETURN(old_superblock, h5::EditedSuperblock::find(from_storage));
  if (!old_superblock.has_wide_addresses()) {
    return Status(ErrorCode::kUnsupported, name + ": its addresses don't have 8 bytes");
  }
  STRIA_ASSIGN_OR_RETURN(old_file, open_for_reading(source, name));
  if (!old_file->file.valid()) {
    return failure(ErrorCode::kCorrupted, "cannot be opened as an HDF5 file");
  }
  const h5::MetadataSource bytes{source, old_superblock.offset()};
  auto found = h5::survey(old_file->file.get(), bytes, old_superblock.root());
  if (!found.ok()) {
    return found.status().with_context(name);
  }
  hidden = std::move(*found);
  STRIA_RETURN_IF_ERROR(hidden.empty() && elsewhere.empty() ? Status() : open_view(elsewhere));
  return create();
}

Status Hdf5Copy::Impl::open_view(std::span<const PlacedData> elsewhere) {
  const int64_t bytes = elsewhere.empty() ? source.file_bytes() : kOverlaidBytes;
  overlaid = std::make_unique<h5::OverlaidFile>(from_storage, bytes);
  STRIA_RETURN_IF_ERROR(h5::hide(hidden, *overlaid, old_superblock.offset()));
  STRIA_RETURN_IF_ERROR(elsewhere.empty() ? Status() : make_plain(elsewhere));
  view_source = std::make_unique<h5::StorageFile>(*overlaid, bytes);
  STRIA_ASSIGN_OR_RETURN(view, open_for_reading(*view_source, name));
  return view->file.valid() ? Status() : failure(ErrorCode::kCorrupted, "cannot be opened as an HDF5 file");
}

// Makes the superblock and the layouts look as if those datasets were plain ones, whose data lie
// behind the file.
Status Hdf5Copy::Impl::make_plain(std::span<const PlacedData> elsewhere) {
  h5::EditedSuperblock superblock = old_superblock;
  if (superblock.offset() > 0) {
    return Status(ErrorCode::kUnsupported, name + ": another program has put bytes before it");
  }
  Addresses addresses(old_file->file.get());
  int64_t block = kFirstBlock;
  for (const PlacedData& dataset : elsewhere) {
    STRIA_ASSIGN_OR_RETURN(const int64_t header, addresses.of(dataset.path));
    const Status plain = h5::make_plain(*overlaid, {.header = header, .data = dataset.place, .block = block});
    STRIA_RETURN_IF_ERROR(plain.with_context("dataset '" + dataset.path + "'"));
    block += h5::kPlainBlockBytes;
  }
  superblock.set_end(kOverlaidBytes);
  overlaid->put(0, superblock.bytes());
  return Status();
}

Status Hdf5Copy::Impl::create() {
  STRIA_ASSIGN_OR_RETURN(access, h5::make_target_access(target));
  const Id creation(H5Fget_create_plist(old_file->file.get()));
  const bool made = creation.valid() && H5Pset_obj_track_times(creation.get(), false) >= 0 &&
                    H5Pset_libver_bounds(access.list.get(), release_of(old_superblock.version()), H5F_LIBVER_LATEST) >= 0 &&
                    H5Pset_meta_block_size(access.list.get(), metadata_block_bytes(source.file_bytes())) >= 0;
  new_file =
      Id(made ? H5Fcreate(to_storage.path().c_str(), H5F_ACC_TRUNC, creation.get(), access.list.get()) : H5I_INVALID_HID);
  return new_file.valid() ? Status() : failure(ErrorCode::kIo, "the new file can't be made");
}

Status Hdf5Copy::Impl::copy_user_block() {
  constexpr int64_t kAtOnceBytes = 1 << 20;
  std::vector<std::byte> bytes;
  for (int64_t at = 0; at < old_superblock.offset(); at += static_cast<int64_t>(bytes.size())) {
    bytes.resize(static_cast<size_t>(std::min(kAtOnceBytes, old_superblock.offset() - at)));
    const storage::ReadSegment read{at, bytes.data(), static_cast<int64_t>(bytes.size())};
    STRIA_RETURN_IF_ERROR(from_storage.read({&read, 1}).status());
    const storage::WriteSegment write{at, bytes.data(), read.bytes};
    STRIA_RETURN_IF_ERROR(to_storage.write({&write, 1}));
  }
  return Status();
}

// libhdf5 doesn't say at which object it failed. Each is copied again by itself, for that.
Status Hdf5Copy::Impl::find_culprit(const Status& failure) {
  const Id scratch(H5Gopen2(new_file.get(), kScratch, H5P_DEFAULT));
  const Id shallow(H5Pcreate(H5P_OBJECT_COPY));
  H5Pset_copy_object(shallow.get(), H5O_COPY_SHALLOW_HIERARCHY_FLAG);
  auto listed = h5::list_objects(old_file->file.get());
  if (!listed.ok()) {
    return listed.status().with_context(name);
  }
  for (std::string path : listed->paths) {
    const bool is_group = path.ends_with('/');
    path.resize(path.size() - (is_group ? 1 : 0));
    const bool copied = H5Ocopy(copied_file(), path.c_str(), scratch.get(), "tried", shallow.get(), H5P_DEFAULT) >= 0;
    H5Eclear2(H5E_DEFAULT);
    if (!copied) {
      return failure.with_context((is_group ? "group '" : "dataset '") + path + "'");
    }
    H5Ldelete(scratch.get(), "tried", H5P_DEFAULT);
  }
  return failure;
}

Status Hdf5Copy::Impl::copy_objects() {
  const Id creation(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(creation.get(), false);
  const Id scratch(H5Gcreate2(new_file.get(), kScratch, H5P_DEFAULT, creation.get(), H5P_DEFAULT));
  if (!scratch.valid()) {
    return failure(ErrorCode::kIo, "the new file can't be written");
  }
  if (H5Ocopy(copied_file(), "/", new_file.get(), kRoot, H5P_DEFAULT, H5P_DEFAULT) < 0) {
    const Status cause = take_storage_error();
    if (!cause.ok()) {
      return cause.with_context(name);
    }
    return find_culprit(failure(ErrorCode::kUnsupported, "libhdf5 can't copy it"));
  }
  const Id base(H5Gopen2(new_file.get(), "/", H5P_DEFAULT));
  STRIA_ASSIGN_OR_RETURN(const auto members, h5::list_members(base.get()));
  for (const h5::GroupMember& member : members) {
    new_root = "/" + member.name == kRoot ? member.address : new_root;
  }
  return follow_up(scratch.get());
}

// Does what H5Ocopy doesn't do.
Status Hdf5Copy::Impl::follow_up(hid_t scratch) {
  const h5::CopiedPair pair{.old_file = copied_file(), .new_file = new_file.get(), .new_root = kRoot};
  const h5::CopiedPair whole{.old_file = old_file->file.get(), .new_file = new_file.get(), .new_root = kRoot};
  STRIA_ASSIGN_OR_RETURN(const auto objects, h5::match_objects(pair, old_superblock.root(), new_root));
  STRIA_RETURN_IF_ERROR(h5::renew_references(pair, objects));
  for (const int64_t address : hidden.heaps_of_text) {
    STRIA_RETURN_IF_ERROR(h5::copy_attributes(whole, objects, address));
  }
  STRIA_RETURN_IF_ERROR(h5::make_scale_lists(pair, objects, hidden.newer_lists));
  const h5::MetadataSource old_bytes{source, old_superblock.offset()};
  STRIA_ASSIGN_OR_RETURN(patches, h5::renew_fill_values(pair, objects, old_bytes, scratch, target));
  return Status();
}

Status Hdf5Copy::Impl::close() {
  const bool closed = !new_file.valid() || H5Fclose(new_file.release()) >= 0;
  const Status status = closed ? Status() : failure(ErrorCode::kIo, "the new file can't be written");
  access = {};
  view.reset();
  old_file.reset();
  return status;
}

Hdf5Copy::Hdf5Copy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5Copy::~Hdf5Copy() = default;

Result<std::unique_ptr<Copy>> Hdf5Copy::open(storage::File& from, storage::File& to, std::span<const PlacedData> elsewhere) {
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, from.size());
  auto impl = std::make_unique<Impl>(from, to, bytes);
  {
    const LibraryScope scope;
    STRIA_RETURN_IF_ERROR(impl->open(elsewhere));
  }
  STRIA_RETURN_IF_ERROR(impl->copy_user_block());
  return std::unique_ptr<Copy>(new Hdf5Copy(std::move(impl)));
}

Status Hdf5Copy::copy_all() {
  const LibraryScope scope;
  const Status status = impl_->copy_objects();
  const Status cause = impl_->take_storage_error();
  return status.ok() || cause.ok() ? status : cause.with_context(impl_->name);
}

Status Hdf5Copy::remove(const std::string& path) {
  const LibraryScope scope;
  return H5Ldelete(impl_->new_file.get(), impl_->path_in_new(path).c_str(), H5P_DEFAULT) >= 0
             ? Status()
             : impl_->failure(ErrorCode::kIo, "'" + path + "' can't be removed from the new file");
}

Status Hdf5Copy::create_table(const DatasetSpec& wanted, std::span<const std::byte> content) {
  const LibraryScope scope;
  DatasetSpec spec = wanted;
  h5::fold_hidden(spec);
  const std::vector<std::byte> record = spec.is_hidden ? h5::with_hidden_head(content) : std::vector<std::byte>();
  STRIA_ASSIGN_OR_RETURN(const Id type, element_type(spec.element));
  const std::vector<hsize_t> dims(spec.dims.begin(), spec.dims.end());
  const Id space(dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  const Id creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.get(), false);
  const Id made(H5Dcreate2(impl_->new_file.get(), impl_->path_in_new(spec.path).c_str(), type.get(), space.get(), H5P_DEFAULT,
                           creation.get(), H5P_DEFAULT));
  const bool written = made.valid() && H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                                spec.is_hidden ? record.data() : content.data()) >= 0;
  return written ? Status() : impl_->failure(ErrorCode::kIo, "'" + spec.path + "' can't be written");
}

Result<int64_t> Hdf5Copy::count_stretches() {
  const LibraryScope scope;
  if (H5Fflush(impl_->new_file.get(), H5F_SCOPE_GLOBAL) < 0) {
    return impl_->failure(ErrorCode::kIo, "the new file can't be written");
  }
  return static_cast<int64_t>(impl_->target.metadata().size());
}

Result<CopiedFile> Hdf5Copy::finish() {
  {
    const LibraryScope scope;
    STRIA_RETURN_IF_ERROR(impl_->close());
  }
  STRIA_ASSIGN_OR_RETURN(h5::EditedSuperblock superblock, h5::EditedSuperblock::find(impl_->to_storage));
  superblock.set_root(impl_->new_root);
  const storage::WriteSegment segment{superblock.offset(), superblock.bytes().data(),
                                      static_cast<int64_t>(superblock.bytes().size())};
  STRIA_RETURN_IF_ERROR(impl_->to_storage.write({&segment, 1}));
  for (const h5::HeaderPatch& patch : impl_->patches) {
    STRIA_RETURN_IF_ERROR(h5::apply(patch, impl_->to_storage, superblock.offset()));
  }
  CopiedFile copied{.file_bytes = impl_->target.end(), .metadata = impl_->target.metadata()};
  const int64_t superblock_end = superblock.offset() + static_cast<int64_t>(superblock.bytes().size());
  for (ByteRange& range : copied.metadata) {
    range.begin = std::max(range.begin, superblock_end);
  }
  return copied;
}

}  // namespace stria::container
