#include "container/hdf5/read/values/values.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "container/hdf5/form/complex_form.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/read/chunks/chunk_checks.hpp"
#include "container/hdf5/read/types/element_types.hpp"
#include "container/hdf5/read/types/remade_types.hpp"
#include "container/hdf5/read/types/spaces.hpp"
#include "container/hdf5/read/values/list_checks.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kTextsMax = 65536;
constexpr int64_t kTextBytesMax = 256 << 20;  // when all are as long as the longest
constexpr unsigned kFilterNameMax = 64;

// Strings of variable length, as libhdf5 returns them. The destructor gives them back to it.
class Texts {
 public:
  Texts(hid_t type, int64_t count) : type_(type), pointers_(static_cast<size_t>(count), nullptr) {
    const hsize_t extent = static_cast<hsize_t>(count);
    space_ = Id(H5Screate_simple(1, &extent, nullptr));
  }
  ~Texts() { H5Dvlen_reclaim(type_, space_.get(), H5P_DEFAULT, pointers_.data()); }
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  hid_t space() const { return space_.get(); }
  void* data() { return pointers_.data(); }
  int64_t longest() const {
    size_t longest = 1;
    for (const char* text : pointers_) {
      longest = std::max(longest, text != nullptr ? std::strlen(text) : 0);
    }
    return static_cast<int64_t>(longest);
  }
  /// Copies each string into `bytes` bytes of `to`, padded with NULs; false when one is longer.
  bool copy(std::byte* to, size_t bytes) const {
    for (const char* text : pointers_) {
      const size_t length = text != nullptr ? std::strlen(text) : 0;
      if (length > bytes) {
        return false;
      }
      std::memset(to, 0, bytes);
      std::copy_n(reinterpret_cast<const std::byte*>(text), length, to);
      to += bytes;
    }
    return true;
  }

 private:
  hid_t type_;
  Id space_;
  std::vector<char*> pointers_;
};

Status check_filters(hid_t creation) {
  const int count = H5Pget_nfilters(creation);
  for (int index = 0; index < count; ++index) {
    unsigned flags = 0;
    unsigned config = 0;
    size_t values = 0;
    char name[kFilterNameMax] = {};
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(index), &flags, &values, nullptr, sizeof(name), name, &config);
    if (filter < 0) {
      return last_error(ErrorCode::kCorrupted, "its filters can't be read");
    }
    if (H5Zfilter_avail(filter) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return Status(ErrorCode::kUnsupported, "it needs HDF5 filter " + std::to_string(filter) + " (" +
                                                 std::string(name, strnlen(name, sizeof(name))) + "), which is not installed");
    }
  }
  return Status();
}

// Returns how many more bytes an element has in the file than in memory, where text is a pointer,
// and a list of any length a pointer and a length. In the file both are `list_bytes`.
int64_t more_in_file(hid_t type, int64_t list_bytes, int depth) {
  if (depth > ElementSpec::kMostNested) {
    return 0;
  }
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
      return list_bytes - static_cast<int64_t>(sizeof(hvl_t));
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? list_bytes - static_cast<int64_t>(sizeof(char*)) : 0;
    case H5T_ARRAY: {
      const Id base(H5Tget_super(type));
      const size_t count = H5Tget_size(type) / std::max<size_t>(H5Tget_size(base.get()), 1);
      return static_cast<int64_t>(count) * more_in_file(base.get(), list_bytes, depth + 1);
    }
    case H5T_COMPOUND: {
      int64_t more = 0;
      for (int index = 0; index < H5Tget_nmembers(type); ++index) {
        const Id member(H5Tget_member_type(type, static_cast<unsigned>(index)));
        more += more_in_file(member.get(), list_bytes, depth + 1);
      }
      return more;
    }
    default:
      return 0;
  }
}

int64_t stored_element_bytes(hid_t dataset, hid_t type) {
  const Id file(H5Iget_file_id(dataset));
  const Id creation(H5Fget_create_plist(file.get()));
  size_t address_bytes = 8;
  size_t length_bytes = 8;
  H5Pget_sizes(creation.get(), &address_bytes, &length_bytes);
  return static_cast<int64_t>(H5Tget_size(type)) + more_in_file(type, static_cast<int64_t>(address_bytes) + 8, 0);
}

// libhdf5 1.10 reads past its buffer when the stored size of a dataset is smaller than its type and
// shape require.
Status check_stored_size(hid_t dataset) {
  const Id type(H5Dget_type(dataset));
  const Id space(H5Dget_space(dataset));
  const hssize_t elements = H5Sget_simple_extent_npoints(space.get());
  const int64_t stored_bytes = static_cast<int64_t>(H5Dget_storage_size(dataset));
  int64_t bytes = 0;
  if (elements < 0 || !checked_multiply(elements, stored_element_bytes(dataset, type.get()), &bytes) || stored_bytes < bytes) {
    return Status(ErrorCode::kCorrupted,
                  "it is cut short: " + std::to_string(stored_bytes) + " bytes for " + std::to_string(elements) + " elements");
  }
  return Status();
}

Status check_contiguous(hid_t dataset, hid_t creation) {
  H5D_space_status_t allocation = H5D_SPACE_STATUS_ERROR;
  if (H5Dget_space_status(dataset, &allocation) < 0) {
    return last_error(ErrorCode::kCorrupted, "its storage can't be read");
  }
  const bool elsewhere = H5Pget_external_count(creation) > 0 || allocation == H5D_SPACE_STATUS_NOT_ALLOCATED;
  return elsewhere ? Status() : check_stored_size(dataset);
}

std::string source_name(hid_t creation, size_t index) {
  const ssize_t length = H5Pget_virtual_dsetname(creation, index, nullptr, 0);
  std::string name(static_cast<size_t>(std::max<ssize_t>(length, 0)), '\0');
  H5Pget_virtual_dsetname(creation, index, name.data(), name.size() + 1);
  return name;
}

// Tells whether a selection lies within a shape. One that has no limit does so by itself.
bool fits(hid_t selection, const std::vector<int64_t>& dims) {
  if (H5Sget_simple_extent_ndims(selection) != static_cast<int>(dims.size())) {
    return false;
  }
  std::vector<hsize_t> first(dims.size()), last(dims.size());
  if (dims.empty() || H5Sget_select_bounds(selection, first.data(), last.data()) < 0) {
    H5Eclear2(H5E_DEFAULT);
    return true;
  }
  return std::equal(last.begin(), last.end(), dims.begin(),
                    [](hsize_t at, int64_t length) { return at < static_cast<hsize_t>(length); });
}

// libhdf5 1.10 trusts that a source is as its mapping says. One that isn't there reads as fill
// values.
Status check_source(hid_t dataset, hid_t creation, size_t index) {
  const std::string name = source_name(creation, index);
  const Id file(H5Iget_file_id(dataset));
  const Id source(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
  if (!source.valid()) {
    H5Eclear2(H5E_DEFAULT);
    return Status();
  }
  const Id of_source(H5Dget_create_plist(source.get()));
  if (H5Pget_layout(of_source.get()) == H5D_VIRTUAL) {
    return Status(ErrorCode::kUnsupported, "it is virtual, and so is its source '" + name + "'");
  }
  const Id from(H5Pget_virtual_srcspace(creation, index));
  const Id to(H5Pget_virtual_vspace(creation, index));
  const Id space(H5Dget_space(source.get()));
  STRIA_ASSIGN_OR_RETURN(const auto dims, dims_of(space.get()));
  const bool is_whole = H5Sget_select_type(from.get()) == H5S_SEL_ALL;
  const bool is_right =
      is_whole ? H5Sget_select_npoints(to.get()) == H5Sget_simple_extent_npoints(space.get()) : fits(from.get(), dims);
  if (!is_right) {
    return Status(ErrorCode::kCorrupted, "its source '" + name + "' has another shape than its mapping says");
  }
  return check_layout(source.get()).with_context("its source '" + name + "'");
}

// libhdf5 reads sources that it doesn't find as fill values. An error is better than wrong data.
Status check_sources(hid_t dataset, hid_t creation) {
  size_t count = 0;
  if (H5Pget_virtual_count(creation, &count) < 0) {
    return last_error(ErrorCode::kCorrupted, "its mappings can't be read");
  }
  for (size_t index = 0; index < count; ++index) {
    char name[256] = {};
    if (H5Pget_virtual_filename(creation, index, name, sizeof(name)) < 0) {
      return last_error(ErrorCode::kCorrupted, "its mappings can't be read");
    }
    if (std::string(name) != ".") {
      return Status(ErrorCode::kUnsupported, "it is virtual and has its data in another file, '" + std::string(name) + "'");
    }
    STRIA_RETURN_IF_ERROR(check_source(dataset, creation, index));
  }
  return Status();
}

}  // namespace

Status check_layout(hid_t dataset) {
  const Id creation(H5Dget_create_plist(dataset));
  const H5D_layout_t layout = creation.valid() ? H5Pget_layout(creation.get()) : H5D_LAYOUT_ERROR;
  if (layout == H5D_LAYOUT_ERROR) {
    return last_error(ErrorCode::kCorrupted, "its layout can't be read");
  }
  switch (layout) {
    case H5D_VIRTUAL:
      return check_sources(dataset, creation.get());
    case H5D_CHUNKED:
      return check_filters(creation.get());
    case H5D_COMPACT:
      return check_stored_size(dataset);
    default:
      return check_contiguous(dataset, creation.get());
  }
}

namespace {

Status check_selection(std::span<const int64_t> dims, std::span<const int64_t> start, std::span<const int64_t> count) {
  if (start.size() != dims.size() || count.size() != dims.size()) {
    return Status(ErrorCode::kInvalidArgument,
                  "a selection of " + std::to_string(start.size()) + " dimensions out of " + std::to_string(dims.size()));
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (start[axis] < 0 || count[axis] < 0 || start[axis] > dims[axis] || count[axis] > dims[axis] - start[axis]) {
      return Status(ErrorCode::kInvalidArgument, "[" + std::to_string(start[axis]) + ", +" + std::to_string(count[axis]) +
                                                     ") is not within dimension " + std::to_string(axis) + " of " +
                                                     std::to_string(dims[axis]));
    }
  }
  return Status();
}

Status select(hid_t space, std::span<const int64_t> start, std::span<const int64_t> count) {
  const std::vector<hsize_t> begin(start.begin(), start.end());
  const std::vector<hsize_t> extent(count.begin(), count.end());
  if (!begin.empty() && H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, extent.data(), nullptr) < 0) {
    return last_error(ErrorCode::kInternal, "cannot select");
  }
  return Status();
}

Status read_texts(hid_t dataset, hid_t type, hid_t space, int64_t elements, std::span<std::byte> out) {
  const size_t width = out.size() / static_cast<size_t>(elements);
  if (width == 0 || width * static_cast<size_t>(elements) != out.size()) {
    return Status(ErrorCode::kInvalidArgument, "the buffer doesn't hold as many strings as are selected");
  }
  Texts texts(type, elements);
  if (H5Dread(dataset, type, texts.space(), space, H5P_DEFAULT, texts.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "cannot be read");
  }
  if (!texts.copy(out.data(), width)) {
    return Status(ErrorCode::kInvalidArgument, "a string is longer than " + std::to_string(width) + " bytes");
  }
  return Status();
}

Status read_fixed(hid_t dataset, hid_t type, hid_t space, int64_t elements, std::span<std::byte> out) {
  if (holds_pointers(type)) {
    return Status(ErrorCode::kUnsupported, "its elements have variable length or refer to other places");
  }
  STRIA_ASSIGN_OR_RETURN(const Id memory_type, memory_type_of(type));
  const size_t element_bytes = H5Tget_size(memory_type.get());
  if (out.size() / static_cast<size_t>(elements) != element_bytes || out.size() % element_bytes != 0) {
    return Status(ErrorCode::kInvalidArgument, "the buffer has " + std::to_string(out.size()) + " bytes for " +
                                                   std::to_string(elements) + " elements of " + std::to_string(element_bytes));
  }
  STRIA_ASSIGN_OR_RETURN(const Id memory_space, make_space({elements}));
  if (H5Dread(dataset, memory_type.get(), memory_space.get(), space, H5P_DEFAULT, out.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "cannot be read");
  }
  return Status();
}

}  // namespace

Result<Selection> selected(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count) {
  Selection selection{.space = Id(H5Dget_space(dataset))};
  if (!selection.space.valid()) {
    return last_error(ErrorCode::kCorrupted, "its shape can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, dims_of(selection.space.get()));
  STRIA_RETURN_IF_ERROR(check_selection(dims, start, count));
  STRIA_RETURN_IF_ERROR(total_bytes(count, 1, &selection.elements));
  if (selection.elements > 0) {
    STRIA_RETURN_IF_ERROR(check_layout(dataset));
    STRIA_RETURN_IF_ERROR(check_lists(dataset, start, count));
    STRIA_RETURN_IF_ERROR(check_filtered_chunks(dataset, start, count));
    STRIA_RETURN_IF_ERROR(select(selection.space.get(), start, count));
  }
  return selection;
}

Status read_selection(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count, std::span<std::byte> out) {
  const Id type(H5Dget_type(dataset));
  if (!type.valid()) {
    return last_error(ErrorCode::kCorrupted, "its type can't be read");
  }
  // A damaged shape may have any size: nothing is looked at that has no room.
  int64_t least_bytes = 0;
  STRIA_RETURN_IF_ERROR(total_bytes(count, 1, &least_bytes));
  if (static_cast<int64_t>(out.size()) < least_bytes) {
    return Status(ErrorCode::kInvalidArgument, "the buffer doesn't hold as many elements as are selected");
  }
  STRIA_ASSIGN_OR_RETURN(const Selection selection, selected(dataset, start, count));
  const auto& [space, elements] = selection;
  if (elements == 0) {
    return out.empty() ? Status() : Status(ErrorCode::kInvalidArgument, "a buffer for an empty selection");
  }
  return H5Tis_variable_str(type.get()) > 0 ? read_texts(dataset, type.get(), space.get(), elements, out)
                                            : read_fixed(dataset, type.get(), space.get(), elements, out);
}

Result<int64_t> longest_text(hid_t dataset) {
  const Id type(H5Dget_type(dataset));
  const Id space(H5Dget_space(dataset));
  const hssize_t elements = H5Sget_simple_extent_npoints(space.get());
  if (!type.valid() || elements < 0) {
    return last_error(ErrorCode::kCorrupted, "its shape can't be read");
  }
  if (elements == 0) {
    return int64_t{1};
  }
  if (elements > kTextsMax) {
    return int64_t{0};
  }
  STRIA_RETURN_IF_ERROR(check_layout(dataset));
  STRIA_RETURN_IF_ERROR(check_lists(dataset));
  Texts texts(type.get(), elements);
  if (H5Dread(dataset, type.get(), texts.space(), H5S_ALL, H5P_DEFAULT, texts.data()) < 0) {
    // Release 1.10 wants to write to the file when it fills in text that nobody has written.
    const Id creation(H5Dget_create_plist(dataset));
    H5D_fill_value_t fill = H5D_FILL_VALUE_ERROR;
    const bool is_filled = H5Pfill_value_defined(creation.get(), &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED;
    return last_error(is_filled ? ErrorCode::kUnsupported : ErrorCode::kCorrupted, "its strings can't be read");
  }
  return texts.longest();
}

namespace {

Status read_attribute_texts(hid_t attribute, hid_t type, int64_t elements, AttributeSpec* spec) {
  if (elements > kTextsMax) {
    return Status(ErrorCode::kUnsupported, "more than " + std::to_string(kTextsMax) + " strings of variable length");
  }
  STRIA_RETURN_IF_ERROR(check_attribute_lists(attribute));
  Texts texts(type, elements);
  if (H5Aread(attribute, type, texts.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "cannot be read");
  }
  spec->element.bytes = texts.longest();
  int64_t bytes = 0;
  if (!checked_multiply(elements, spec->element.bytes, &bytes) || bytes > kTextBytesMax) {
    return Status(ErrorCode::kUnsupported, "its strings would take " + std::to_string(kTextBytesMax) + " bytes or more");
  }
  spec->value.resize(static_cast<size_t>(elements * spec->element.bytes));
  texts.copy(spec->value.data(), static_cast<size_t>(spec->element.bytes));
  return Status();
}

// Returns the path of the object; empty where the reference leads nowhere, or no path leads to the
// object.
std::string path_of(hid_t any_object, hobj_ref_t reference) {
  const Id object(reference == 0 ? H5I_INVALID_HID : H5Rdereference2(any_object, H5P_DEFAULT, H5R_OBJECT, &reference));
  const ssize_t length = object.valid() ? H5Iget_name(object.get(), nullptr, 0) : 0;
  std::string path(static_cast<size_t>(std::max<ssize_t>(length, 0)), '\0');
  if (length > 0) {
    H5Iget_name(object.get(), path.data(), path.size() + 1);
  }
  return path;
}

Status read_attribute_references(hid_t attribute, int64_t elements, AttributeSpec* spec) {
  if (elements > kTextsMax) {
    return Status(ErrorCode::kUnsupported, "more than " + std::to_string(kTextsMax) + " references");
  }
  std::vector<hobj_ref_t> references(static_cast<size_t>(elements));
  if (H5Aread(attribute, H5T_STD_REF_OBJ, references.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "cannot be read");
  }
  std::vector<std::string> paths;
  size_t longest = 1;
  for (const hobj_ref_t reference : references) {
    const std::string& path = paths.emplace_back(path_of(attribute, reference));
    H5Eclear2(H5E_DEFAULT);
    if (path.empty() && reference != 0) {
      return Status(ErrorCode::kNotFound,
                    "it refers to an object that is no longer in the file, which has had another header since, or was removed");
    }
    longest = std::max(longest, path.size());
  }
  spec->element.bytes = static_cast<int64_t>(longest);
  spec->value.resize(paths.size() * longest);
  for (size_t i = 0; i < paths.size(); ++i) {
    std::memcpy(spec->value.data() + i * longest, paths[i].data(), paths[i].size());
  }
  return Status();
}

Status read_attribute_value(hid_t attribute, hid_t type, int64_t elements, int64_t file_bytes, AttributeSpec* spec) {
  if (holds_pointers(type)) {
    return Status(ErrorCode::kUnsupported, "its elements have variable length or refer to other places");
  }
  int64_t bytes = 0;
  if (!checked_multiply(elements, spec->element.bytes, &bytes) || bytes > file_bytes) {
    return Status(ErrorCode::kCorrupted, "it would be larger than the file");
  }
  STRIA_ASSIGN_OR_RETURN(const Id memory_type, takes_library(type) ? remade_type(type, spec->element) : memory_type_of(type));
  spec->value.resize(static_cast<size_t>(bytes));
  if (H5Aread(attribute, memory_type.get(), spec->value.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "cannot be read");
  }
  if (takes_library(type)) {
    extend_bits(kept_bits(type, spec->element), spec->element.bytes, spec->value);
  }
  return Status();
}

}  // namespace

Result<AttributeSpec> read_attribute(hid_t attribute, int64_t file_bytes) {
  const Id type(H5Aget_type(attribute));
  const Id space(H5Aget_space(attribute));
  if (!type.valid() || !space.valid()) {
    return last_error(ErrorCode::kCorrupted, "its type or shape can't be read");
  }
  AttributeSpec spec;
  STRIA_ASSIGN_OR_RETURN(spec.element, describe_type(type.get()));
  STRIA_ASSIGN_OR_RETURN(spec.dims, dims_of(space.get()));
  int64_t elements = 0;
  STRIA_RETURN_IF_ERROR(total_bytes(spec.dims, 1, &elements));
  const bool is_text = H5Tis_variable_str(type.get()) > 0;
  if (elements == 0) {
    spec.element.bytes = std::max(spec.element.bytes, int64_t{1});
    return spec;
  }
  if (spec.element.kind == ElementSpec::Kind::kReference) {
    STRIA_RETURN_IF_ERROR(read_attribute_references(attribute, elements, &spec));
    return spec;
  }
  STRIA_RETURN_IF_ERROR(is_text ? read_attribute_texts(attribute, type.get(), elements, &spec)
                                : read_attribute_value(attribute, type.get(), elements, file_bytes, &spec));
  unfold_complex(spec.element, spec.dims);
  return spec;
}

namespace {

/// Tells whether an attribute is a string that begins so.
bool begins_with(hid_t object, const char* attribute, std::string_view begin) {
  if (H5Aexists(object, attribute) <= 0) {
    return false;
  }
  const Id opened(H5Aopen(object, attribute, H5P_DEFAULT));
  const auto value = read_attribute(opened.get(), INT64_MAX);
  return value.ok() && value->element.kind == ElementSpec::Kind::kString && value->value.size() >= begin.size() &&
         std::memcmp(value->value.data(), begin.data(), begin.size()) == 0;
}

}  // namespace

bool is_bare_scale(hid_t dataset) {
  return begins_with(dataset, "NAME", "This is a netCDF dimension but not a netCDF variable");
}

bool is_scale(hid_t dataset) {
  return begins_with(dataset, "CLASS", "DIMENSION_SCALE");
}

Result<std::vector<std::string>> scale_paths(hid_t dataset) {
  std::vector<std::string> paths;
  if (H5Aexists(dataset, "DIMENSION_LIST") <= 0) {
    return paths;
  }
  const Id attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT));
  const Id type(H5Aget_type(attribute.get()));
  const Id space(H5Aget_space(attribute.get()));
  const Id list(H5Tvlen_create(H5T_STD_REF_OBJ));
  const hssize_t dimensions = space.valid() ? H5Sget_simple_extent_npoints(space.get()) : 0;
  if (!type.valid() || H5Tequal(type.get(), list.get()) <= 0 || dimensions < 1 || dimensions > H5S_MAX_RANK) {
    return paths;
  }
  const Status sound = check_attribute_lists(attribute.get());
  if (!sound.ok()) {
    return sound.code() == ErrorCode::kUnsupported ? Result<std::vector<std::string>>(std::move(paths))
                                                   : sound.with_context("attribute 'DIMENSION_LIST'");
  }
  std::vector<hvl_t> scales(static_cast<size_t>(dimensions), hvl_t{0, nullptr});
  if (H5Aread(attribute.get(), list.get(), scales.data()) >= 0) {
    for (const hvl_t& scale : scales) {
      paths.push_back(scale.len == 1 ? path_of(dataset, *static_cast<const hobj_ref_t*>(scale.p)) : std::string());
    }
    H5Dvlen_reclaim(list.get(), space.get(), H5P_DEFAULT, scales.data());
  }
  H5Eclear2(H5E_DEFAULT);
  return paths;
}

}  // namespace stria::container::h5
