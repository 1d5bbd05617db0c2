#include "container/hdf5/read/reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "container/hdf5/form/complex_form.hpp"
#include "container/hdf5/form/hidden_content.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/read/chunks/chunk_layout.hpp"
#include "container/hdf5/read/driver/file_driver.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/libhdf5/library_calls.hpp"
#include "container/hdf5/read/objects.hpp"
#include "container/hdf5/read/references.hpp"
#include "container/hdf5/read/stored/chunk_index.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "container/hdf5/read/stored/storage_file.hpp"
#include "container/hdf5/read/types/element_types.hpp"
#include "container/hdf5/read/types/number_types.hpp"
#include "container/hdf5/read/types/spaces.hpp"
#include "container/hdf5/read/values/remade_elements.hpp"
#include "container/hdf5/read/values/values.hpp"
#include "container/object_path.hpp"

namespace stria::container {

using h5::Id;
using h5::last_error;
using h5::LibraryScope;

namespace {

constexpr int64_t kSignatureBytes = 8;

}  // namespace

struct Hdf5Reader::Impl {
  Impl(storage::File& storage, int64_t bytes)
      : name(storage.path()),
        file_bytes(bytes),
        source_owner(std::make_unique<h5::StorageFile>(storage, bytes)),
        source(*source_owner),
        guard(std::make_unique<h5::MetadataGuard>(source)) {}
  ~Impl() {
    const LibraryScope scope;
    if (file.valid() && H5Fclose(file.release()) < 0) {
      // libhdf5 may still have a damaged file open. The storage file under it, and its driver,
      // must then live as long as the process.
      source.detach();
      static_cast<void>(source_owner.release());
      static_cast<void>(guard.release());
      access.release();
    }
    access.reset();
  }

  Status open();
  /// Returns the error of libhdf5 as a Status that names the file. An error of the storage is
  /// preferred.
  Status failure(ErrorCode code, const std::string& what);
  /// Damage is what another program is about to write, where that has the file open.
  Status explained(const Status& status) const;
  void look_for_writer();
  /// Returns what the file has; found once.
  Result<const h5::Listed*> list();
  Result<Id> open_dataset(const std::string& path);
  Result<Id> open_object(const std::string& path);
  /// Returns what libhdf5 makes of the elements of a dataset, which takes_library(); found once.
  Result<const ElementSpec*> remade_element(const std::string& path, hid_t dataset);
  Result<DatasetInfo> describe_newer(const std::string& path, const Status& problem);
  /// Returns an error where the header can't tell them all.
  Result<std::vector<std::string>> attributes_in_header(hid_t object);
  Status locate(hid_t dataset, DatasetInfo* info);
  /// Makes of a record that hides its content a dataset of bytes.
  Status unfold_hidden(DatasetInfo* info);
  /// Describes what chunks pass, and how the dataset is cut where that is all that must be known to
  /// read it without libhdf5.
  Status describe_chunks(hid_t dataset, hid_t creation, DatasetInfo* info);

  std::string name;
  int64_t file_bytes;
  std::unique_ptr<h5::StorageFile> source_owner;
  h5::StorageFile& source;
  std::unique_ptr<h5::MetadataGuard> guard;
  Id access;  // outlives the file
  Id file;
  int64_t base = 0;                 // the base of addresses
  bool has_wide_addresses = false;  // whether addresses and lengths have 8 bytes
  bool is_written = false;          // by another program, as the file says
  std::optional<h5::Listed> listed;
  std::unordered_map<std::string, ElementSpec> remade;  // by path
};

Status Hdf5Reader::Impl::failure(ErrorCode code, const std::string& what) {
  const Status cause = source.take_error();
  const Status library = last_error(code, what);
  return (cause.ok() ? library : cause.with_context(what)).with_context(name);
}

Status Hdf5Reader::Impl::open() {
  if (file_bytes < kSignatureBytes) {
    return Status(ErrorCode::kFormat, name + ": not an HDF5 file: it has only " + std::to_string(file_bytes) + " bytes");
  }
  STRIA_ASSIGN_OR_RETURN(access, h5::make_access_list(source, *guard));
  file = Id(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file.valid()) {
    return failure(ErrorCode::kCorrupted, "cannot be opened as an HDF5 file");
  }
  const Id creation(H5Fget_create_plist(file.get()));
  hsize_t user_block = 0;
  size_t address_bytes = 0;
  size_t length_bytes = 0;
  has_wide_addresses = creation.valid() && H5Pget_userblock(creation.get(), &user_block) >= 0 &&
                       H5Pget_sizes(creation.get(), &address_bytes, &length_bytes) >= 0 && address_bytes == sizeof(int64_t) &&
                       length_bytes == sizeof(int64_t);
  base = static_cast<int64_t>(user_block);
  look_for_writer();
  return Status();
}

// A superblock marks, from version 3 on, a file that is open to be written.
void Hdf5Reader::Impl::look_for_writer() {
  constexpr size_t kVersionAt = 8, kMarksAt = 11;
  std::array<std::byte, kMarksAt + 1> begin{};
  const Status read = source.read(H5FD_MEM_SUPER, base, static_cast<int64_t>(begin.size()), begin.data());
  is_written = read.ok() && begin[kVersionAt] >= std::byte{3} && begin[kMarksAt] != std::byte{0};
}

Status Hdf5Reader::Impl::explained(const Status& status) const {
  return is_written && status.code() == ErrorCode::kCorrupted
             ? Status(ErrorCode::kUnsupported,
                      "another program has the file open to write to it (SWMR), or died while it did: what it adds can be "
                      "read when it has closed the file, or 'h5clear -s' has taken the mark away (" +
                          status.message() + ")")
             : status;
}

Status Hdf5Reader::Impl::describe_chunks(hid_t dataset, hid_t creation, DatasetInfo* info) {
  bool decodable = false;
  STRIA_ASSIGN_OR_RETURN(Chunking chunking, h5::chunking_of(creation, info->spec, &info->filters, &decodable));
  const Id type(H5Dget_type(dataset));
  const bool is_plain = type.valid() && !h5::holds_pointers(type.get()) && !h5::takes_library(type.get());
  decodable = decodable && is_plain;
  if (info->spec.element.meaning == Meaning::kComplex) {
    chunking.dims.push_back(2);  // each chunk has both parts of a number
  }
  info->chunk = chunking.dims;
  DatasetSpec cut = info->spec;
  cut.chunking = std::move(chunking);
  int64_t bytes = 0;
  STRIA_RETURN_IF_ERROR(h5::total_bytes(info->spec.dims, info->spec.element.bytes, &bytes));
  info->obstacle = decodable  ? "the index of its chunks is no B-tree of version 1, which Stria writes"
                   : is_plain ? "its filters (" + info->filters + ") take libhdf5"
                              : h5::what_takes_library(type.get());
  if (!decodable || !has_wide_addresses || (bytes == 0 && !info->spec.extendable) || !check_chunking(cut).ok()) {
    return Status();
  }
  const auto place = h5::place_of(dataset);
  if (!place) {
    return Status();
  }
  const auto tree = h5::find_chunk_tree({source, base}, place->address);
  const Status cause = source.take_error();
  STRIA_RETURN_IF_ERROR(cause);
  if (tree.ok() && *tree) {
    info->spec.chunking = std::move(cut.chunking);
    info->obstacle.clear();
  }
  return Status();
}

Result<Id> Hdf5Reader::Impl::open_object(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const std::string normal, normal_path(path));
  Id object(H5Oopen(file.get(), normal.empty() ? "/" : normal.c_str(), H5P_DEFAULT));
  if (!object.valid()) {
    return failure(ErrorCode::kCorrupted, "object '" + path + "'");
  }
  return object;
}

Result<Id> Hdf5Reader::Impl::open_dataset(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(Id object, open_object(path));
  if (H5Iget_type(object.get()) != H5I_DATASET) {
    return Status(ErrorCode::kInvalidArgument, name + ": '" + path + "' is not a dataset");
  }
  return object;
}

Result<const ElementSpec*> Hdf5Reader::Impl::remade_element(const std::string& path, hid_t dataset) {
  const auto known = remade.find(path);
  if (known != remade.end()) {
    return &known->second;
  }
  const Id type(H5Dget_type(dataset));
  STRIA_ASSIGN_OR_RETURN(ElementSpec element, h5::describe_type(type.get()));
  STRIA_RETURN_IF_ERROR(h5::measure_texts(dataset, element));
  if (element.bytes == 0) {  // no member can be read
    element = h5::other_type(static_cast<int64_t>(H5Tget_size(type.get())));
  }
  return &remade.emplace(path, std::move(element)).first->second;
}

// Sets the layout, and the place of data that can be read without libhdf5.
Status Hdf5Reader::Impl::locate(hid_t dataset, DatasetInfo* info) {
  const Id creation(H5Dget_create_plist(dataset));
  const H5D_layout_t layout = creation.valid() ? H5Pget_layout(creation.get()) : H5D_LAYOUT_ERROR;
  if (layout == H5D_CHUNKED || layout == H5D_COMPACT || layout == H5D_VIRTUAL) {
    info->layout = layout == H5D_CHUNKED   ? DatasetInfo::Layout::kChunked
                   : layout == H5D_COMPACT ? DatasetInfo::Layout::kCompact
                                           : DatasetInfo::Layout::kVirtual;
    return layout == H5D_CHUNKED ? describe_chunks(dataset, creation.get(), info) : Status();
  }
  if (layout != H5D_CONTIGUOUS) {
    return last_error(ErrorCode::kCorrupted, "its layout can't be read");
  }
  info->layout = DatasetInfo::Layout::kContiguous;
  const Id type(H5Dget_type(dataset));
  if (h5::takes_library(type.get())) {
    return Status();
  }
  H5D_space_status_t allocation = H5D_SPACE_STATUS_ERROR;
  int64_t bytes = 0;
  STRIA_RETURN_IF_ERROR(h5::total_bytes(info->spec.dims, info->spec.element.bytes, &bytes));
  if (H5Pget_external_count(creation.get()) > 0 || bytes == 0) {
    return Status();
  }
  if (H5Dget_space_status(dataset, &allocation) < 0) {
    return last_error(ErrorCode::kCorrupted, "its storage can't be read");
  }
  if (allocation == H5D_SPACE_STATUS_NOT_ALLOCATED) {
    info->layout = DatasetInfo::Layout::kUnallocated;
    return Status();
  }
  const haddr_t offset = H5Dget_offset(dataset);
  const bool inside =
      offset != HADDR_UNDEF && offset <= static_cast<haddr_t>(file_bytes) && bytes <= file_bytes - static_cast<int64_t>(offset);
  if (!inside || static_cast<hsize_t>(bytes) > H5Dget_storage_size(dataset)) {
    return Status(ErrorCode::kCorrupted, "the file is cut short: " + std::to_string(bytes) + " bytes should lie at offset " +
                                             std::to_string(offset) + ", the file has " + std::to_string(file_bytes));
  }
  info->data_offset = static_cast<int64_t>(offset);
  return Status();
}

Status Hdf5Reader::Impl::unfold_hidden(DatasetInfo* info) {
  const auto content = h5::hidden_content_bytes(info->spec.element, info->spec.dims);
  if (!content) {
    return Status();
  }
  info->spec.is_hidden = true;
  info->spec.element = ElementSpec::of_number(ElementType::kUint8);
  info->spec.dims = {*content};
  info->spec.fill_value.clear();
  if (info->data_offset < 0) {
    return Status();
  }
  uint64_t head = 0;
  STRIA_RETURN_IF_ERROR(source.read(H5FD_MEM_OHDR, info->data_offset, h5::kHiddenContentAt, &head));
  info->data_offset += h5::kHiddenContentAt;
  if (head != 0) {
    info->problem = Status(ErrorCode::kCorrupted, name + ": dataset '" + info->spec.path + "' is damaged: its first 8 bytes");
  }
  return Status();
}

Hdf5Reader::Hdf5Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5Reader::~Hdf5Reader() = default;

Result<std::unique_ptr<Hdf5Reader>> Hdf5Reader::open(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.size());
  auto impl = std::make_unique<Impl>(file, bytes);
  {
    const LibraryScope scope;
    STRIA_RETURN_IF_ERROR(impl->open());
  }
  return std::unique_ptr<Hdf5Reader>(new Hdf5Reader(std::move(impl)));
}

// Right for files that Stria has written.
ByteRange Hdf5Reader::superblock() const {
  return {0, h5::kSuperblockBytes};
}

Result<const h5::Listed*> Hdf5Reader::Impl::list() {
  const LibraryScope scope;
  if (!listed) {
    auto found = h5::list_objects(file.get());
    const Status cause = source.take_error();
    if (!found.ok()) {
      return explained((cause.ok() ? found.status() : cause).with_context(name));
    }
    listed = std::move(*found);
  }
  return &*listed;
}

Result<std::vector<std::string>> Hdf5Reader::list() const {
  STRIA_ASSIGN_OR_RETURN(const h5::Listed* const listed, impl_->list());
  return listed->paths;
}

Result<std::vector<LinkSpec>> Hdf5Reader::links() const {
  STRIA_ASSIGN_OR_RETURN(const h5::Listed* const listed, impl_->list());
  return listed->links;
}

Result<std::vector<Alias>> Hdf5Reader::aliases() const {
  STRIA_ASSIGN_OR_RETURN(const h5::Listed* const listed, impl_->list());
  return listed->aliases;
}

Result<Reader::ObjectKind> Hdf5Reader::kind_of(const std::string& path) const {
  const auto normal = normal_path(path);
  if (!normal.ok()) {
    return ObjectKind::kNone;
  }
  const LibraryScope scope;
  for (size_t end = 0; end < normal->size(); ++end) {
    end = std::min(normal->find('/', end), normal->size());
    if (H5Lexists(impl_->file.get(), normal->substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return ObjectKind::kNone;
    }
  }
  const auto place = h5::place_of(impl_->file.get(), normal->empty() ? "/" : *normal);
  if (!place) {
    const auto link = h5::link_info(impl_->file.get(), *normal);
    H5Eclear2(H5E_DEFAULT);
    static_cast<void>(impl_->source.take_error());  // The next reader of it meets it again.
    return link && link->type == H5L_TYPE_HARD ? ObjectKind::kDataset : ObjectKind::kNone;
  }
  return place->type == H5O_TYPE_DATASET ? ObjectKind::kDataset
         : place->type == H5O_TYPE_GROUP ? ObjectKind::kGroup
                                         : ObjectKind::kOther;
}

Result<std::vector<std::string>> Hdf5Reader::names_in(const std::string& group) const {
  const LibraryScope scope;
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_object(group));
  auto links = h5::list_links(object.get());
  STRIA_RETURN_IF_ERROR(links.status().with_context(impl_->name + ": group '" + group + "'"));
  std::vector<std::string> names;
  for (h5::GroupMember& link : *links) {
    names.push_back(std::move(link.name));
  }
  return names;
}

Result<LinkSpec> Hdf5Reader::link_to_file(const std::string& path) const {
  LinkSpec found;
  const auto normal = normal_path(path);
  if (!normal.ok() || normal->empty()) {
    return found;
  }
  const size_t slash = normal->rfind('/');
  const std::string group = slash == std::string::npos ? "" : normal->substr(0, slash);
  STRIA_ASSIGN_OR_RETURN(const ObjectKind kind, kind_of(group));
  if (kind != ObjectKind::kGroup) {
    return found;
  }
  const LibraryScope scope;
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_object(group));
  h5::GroupMember link;
  link.name = normal->substr(slash == std::string::npos ? 0 : slash + 1);
  const auto info = h5::link_info(object.get(), link.name);
  if (!info || info->type != H5L_TYPE_EXTERNAL) {
    H5Eclear2(H5E_DEFAULT);
    return found;
  }
  link.kind = h5::GroupMember::Kind::kExternal;
  STRIA_RETURN_IF_ERROR(h5::find_target(object.get(), link).with_context(impl_->name));
  return LinkSpec{.path = path, .target = link.target, .file = link.file};
}

bool Hdf5Reader::keeps_order() const {
  const LibraryScope scope;
  const auto root = impl_->open_object("/");
  const Id creation(root.ok() ? H5Gget_create_plist(root->get()) : H5I_INVALID_HID);
  unsigned order = 0;
  return creation.valid() && H5Pget_link_creation_order(creation.get(), &order) >= 0 && (order & H5P_CRT_ORDER_TRACKED) != 0;
}

// Returns what the header of a dataset says that libhdf5 can't open: its shape.
Result<DatasetInfo> Hdf5Reader::Impl::describe_newer(const std::string& path, const Status& problem) {
  STRIA_ASSIGN_OR_RETURN(const std::string normal, normal_path(path));
  const auto place = has_wide_addresses ? h5::place_of(file.get(), normal) : std::nullopt;
  if (!place) {
    H5Eclear2(H5E_DEFAULT);
    return problem;
  }
  STRIA_ASSIGN_OR_RETURN(const h5::ObjectMessages header, h5::read_object_header({source, base}, place->address));
  DatasetInfo info;
  info.spec.path = path;
  info.spec.element.kind = ElementSpec::Kind::kOther;
  info.spec.dims = h5::dims_of(header);
  info.layout = DatasetInfo::Layout::kChunked;
  info.problem =
      Status(ErrorCode::kUnsupported, "dataset '" + path + "' can't be read: a newer release of HDF5 stored it than is here (" +
                                          problem.message() + ")");
  return info;
}

Result<std::vector<std::string>> Hdf5Reader::Impl::attributes_in_header(hid_t object) {
  const auto place = has_wide_addresses ? h5::place_of(object) : std::nullopt;
  if (!place) {
    H5Eclear2(H5E_DEFAULT);
    return Status(ErrorCode::kUnsupported, "its header is for libhdf5 alone");
  }
  const auto header = h5::read_object_header({source, base}, place->address);
  static_cast<void>(source.take_error());  // libhdf5 meets it again
  return header.ok() ? h5::list_attributes(*header) : header.status();
}

Result<DatasetInfo> Hdf5Reader::dataset(const std::string& path) const {
  const LibraryScope scope;
  auto opened = impl_->open_dataset(path);
  if (opened.status().code() == ErrorCode::kUnsupported) {
    return impl_->describe_newer(path, opened.status());
  }
  STRIA_ASSIGN_OR_RETURN(const Id dataset, std::move(opened));
  const Id type(H5Dget_type(dataset.get()));
  const Id space(H5Dget_space(dataset.get()));
  if (!type.valid() || !space.valid()) {
    return impl_->failure(ErrorCode::kCorrupted, "dataset '" + path + "'");
  }
  DatasetInfo info;
  info.spec.path = path;
  const std::string what = impl_->name + ": dataset '" + path + "'";
  auto element = h5::describe_type(type.get());
  if (h5::takes_library(type.get())) {
    const auto remade = impl_->remade_element(path, dataset.get());
    info.problem = impl_->explained(remade.status().with_context(what));
    element = remade.ok() ? **remade : h5::other_type(static_cast<int64_t>(H5Tget_size(type.get())));
  }
  auto dims = h5::dims_of(space.get());
  if (!element.ok() || !dims.ok()) {
    return (element.ok() ? dims.status() : element.status()).with_context(what);
  }
  info.spec.element = std::move(*element);
  info.spec.dims = std::move(*dims);
  info.spec.extendable = h5::is_extendable(space.get());
  if (!h5::holds_pointers(type.get())) {
    auto fill_value = h5::fill_value_of(dataset.get(), info.spec.element);
    STRIA_RETURN_IF_ERROR(fill_value.status().with_context(what));
    info.spec.fill_value = std::move(*fill_value);
  }
  h5::unfold_complex(info.spec.element, info.spec.dims);
  Status located = impl_->locate(dataset.get(), &info);
  located.update(located.ok() ? impl_->unfold_hidden(&info) : Status());
  located = located.with_context(what);
  if (!located.ok() && !impl_->is_written) {
    return located;
  }
  if (!located.ok()) {
    info.problem = impl_->explained(located);
    info.spec.element = h5::other_type(info.spec.element.bytes);
  }
  info.spec.is_dimension = info.data_offset < 0 && info.spec.dims.size() == 1 && h5::is_bare_scale(dataset.get());
  auto scales = h5::scale_paths(dataset.get());
  STRIA_RETURN_IF_ERROR(scales.status().with_context(what));
  info.spec.dimension_names = std::move(*scales);
  info.is_scale = info.spec.dims.size() == 1 && h5::is_scale(dataset.get());
  if (H5Tis_variable_str(type.get()) > 0) {
    info.data_offset = -1;
    auto longest = h5::longest_text(dataset.get());
    if (!longest.ok() && longest.status().code() != ErrorCode::kUnsupported) {
      return longest.status().with_context(what);
    }
    info.problem = longest.status().with_context(what);
    info.spec.element.bytes = longest.ok() ? *longest : 0;
  }
  return info;
}

Result<std::vector<std::string>> Hdf5Reader::attribute_names(const std::string& object_path) const {
  const LibraryScope scope;
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_object(object_path));
  auto names = impl_->attributes_in_header(object.get());
  if (!names.ok()) {
    names = h5::list_attributes(object.get());
  }
  return names.ok() ? std::move(names) : names.status().with_context(impl_->name + ": object '" + object_path + "'");
}

Result<AttributeSpec> Hdf5Reader::attribute(const std::string& object_path, const std::string& name) const {
  const LibraryScope scope;
  const std::string what = "attribute '" + name + "' of '" + object_path + "'";
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_object(object_path));
  const htri_t exists = name.find('\0') == std::string::npos ? H5Aexists(object.get(), name.c_str()) : 0;
  if (exists < 0) {
    return impl_->failure(ErrorCode::kCorrupted, what);
  }
  if (exists == 0) {
    return Status(ErrorCode::kNotFound, impl_->name + ": no " + what);
  }
  const Id attribute(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT));
  if (!attribute.valid()) {
    return impl_->failure(ErrorCode::kCorrupted, what);
  }
  auto value = h5::read_attribute(attribute.get(), impl_->file_bytes);
  if (!value.ok()) {
    return value.status().with_context(impl_->name + ": " + what);
  }
  value->object_path = object_path;
  value->name = name;
  return value;
}

Result<std::vector<StoredChunk>> Hdf5Reader::chunks(const std::string& path) const {
  const std::string what = impl_->name + ": dataset '" + path + "'";
  STRIA_ASSIGN_OR_RETURN(const DatasetInfo info, dataset(path));
  if (!info.spec.chunking) {
    return Status(ErrorCode::kUnsupported, what + " has no chunks that can be listed");
  }
  const LibraryScope scope;
  const h5::MetadataSource source{impl_->source, impl_->base};
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_dataset(path));
  const auto place = h5::place_of(object.get());
  if (!place) {
    return impl_->failure(ErrorCode::kCorrupted, what);
  }
  const auto tree = h5::find_chunk_tree(source, place->address);
  if (!tree.ok()) {
    return tree.status().with_context(what);
  }
  DatasetSpec stored = info.spec;
  STRIA_RETURN_IF_ERROR(h5::fold_complex(stored));
  auto chunks = h5::read_chunk_tree(source, tree->value_or(-1), ChunkGrid(stored));
  return chunks.ok() ? std::move(chunks) : chunks.status().with_context(what);
}

Status Hdf5Reader::read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                                  std::span<std::byte> out) const {
  const LibraryScope scope;
  STRIA_ASSIGN_OR_RETURN(const Id dataset, impl_->open_dataset(path));
  const Id space(H5Dget_space(dataset.get()));
  const Id type(H5Dget_type(dataset.get()));
  const auto element = h5::describe_type(type.get());
  const auto dims = h5::dims_of(space.get());
  const std::string what = impl_->name + ": dataset '" + path + "'";
  if (const auto bytes = element.ok() && dims.ok() ? h5::hidden_content_bytes(*element, *dims) : std::nullopt) {
    const auto end = static_cast<int64_t>(out.size());
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (offset == HADDR_UNDEF || start.size() != 1 || start[0] < 0 || end > *bytes || start[0] > *bytes - end) {
      return Status(ErrorCode::kUnsupported, what + ": its content isn't where Stria writes it");
    }
    return impl_->source.read(H5FD_MEM_DRAW, static_cast<int64_t>(offset) + h5::kHiddenContentAt + start[0], end, out.data())
        .with_context(what);
  }
  if (element.ok() && h5::is_complex(*element) && !start.empty() && start.size() == count.size() &&
      static_cast<int>(start.size()) == H5Sget_simple_extent_ndims(space.get()) + 1) {
    // libhdf5 reads both parts of a complex number together.
    if (start.back() != 0 || count.back() != 2) {
      return Status(ErrorCode::kUnsupported,
                    impl_->name + ": dataset '" + path + "': read the real and the imaginary parts together");
    }
    start = start.first(start.size() - 1);
    count = count.first(count.size() - 1);
  }
  const auto read = [&]() -> Status {
    if (!h5::takes_library(type.get())) {
      return h5::read_selection(dataset.get(), start, count, out);
    }
    STRIA_ASSIGN_OR_RETURN(const ElementSpec* const remade, impl_->remade_element(path, dataset.get()));
    return h5::read_remade(dataset.get(), *remade, start, count, out);
  };
  const Status status = read();
  const Status cause = impl_->source.take_error();
  return status.ok() ? status : impl_->explained((cause.ok() ? status : cause).with_context(what));
}

Result<std::vector<h5::GroupMember>> Hdf5Reader::members(const std::string& group) const {
  const LibraryScope scope;
  STRIA_ASSIGN_OR_RETURN(const Id object, impl_->open_object(group));
  auto members = h5::list_members(object.get());
  return members.ok() ? std::move(members) : members.status().with_context(impl_->name + ": group '" + group + "'");
}

Result<h5::ObjectMessages> Hdf5Reader::header(int64_t address) const {
  const LibraryScope scope;
  return h5::read_object_header({impl_->source, impl_->base}, address);
}

Result<std::vector<h5::HeldReference>> Hdf5Reader::references() const {
  const LibraryScope scope;
  auto found = h5::find_references(impl_->file.get(), {impl_->source, impl_->base});
  const Status cause = impl_->source.take_error();
  return found.ok() ? std::move(found) : (cause.ok() ? found.status() : cause).with_context(impl_->name);
}

}  // namespace stria::container
