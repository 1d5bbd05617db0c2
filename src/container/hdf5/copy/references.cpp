#include "container/hdf5/copy/references.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "container/hdf5/copy/survey.hpp"
#include "container/hdf5/read/objects.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kAtOnceBytes = 4 << 20;

// It asks by a function that every release has under this name.
int64_t address_of(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info;
#else
  H5O_info_t info;
#endif
  return H5Oget_info1(object, &info) >= 0 ? static_cast<int64_t>(info.addr) : -1;
}

/// Finds what each object has become, group by group.
class Matching {
 public:
  explicit Matching(const CopiedPair& files) : files_(files) {}
  Status run(int64_t old_root, int64_t new_root);
  CopiedObjects take() { return std::move(objects_); }

 private:
  Status enter(const std::string& group);

  const CopiedPair& files_;
  std::deque<std::string> groups_;
  CopiedObjects objects_;
};

Status Matching::enter(const std::string& group) {
  const Id old_group = files_.open_old(group);
  const Id new_group = files_.open_new(group);
  if (!old_group.valid() || !new_group.valid()) {
    return unreadable_object(group);
  }
  STRIA_ASSIGN_OR_RETURN(const auto members, list_members(old_group.get()));
  STRIA_ASSIGN_OR_RETURN(const auto copies, list_members(new_group.get()));
  std::map<std::string, int64_t> address_of;
  for (const GroupMember& copy : copies) {
    address_of[copy.name] = copy.address;
  }
  for (const GroupMember& member : members) {
    const auto copy = address_of.find(member.name);
    const std::string path = group + "/" + member.name;
    if (copy == address_of.end()) {
      return Status(ErrorCode::kInternal, "libhdf5 has not copied the link '" + path + "'");
    }
    if (member.kind != GroupMember::Kind::kHard || objects_.count(member.address) != 0) {
      continue;
    }
    const Id object = files_.open_old(path);
    if (!object.valid()) {
      return unreadable_object(path);
    }
    const H5I_type_t type = H5Iget_type(object.get());
    objects_[member.address] = {.path = path, .type = type, .new_address = copy->second};
    if (type == H5I_GROUP) {
      groups_.push_back(path);
    }
  }
  return Status();
}

Status Matching::run(int64_t old_root, int64_t new_root) {
  objects_[old_root] = {.path = "", .type = H5I_GROUP, .new_address = new_root};
  for (groups_.push_back(""); !groups_.empty(); groups_.pop_front()) {
    STRIA_RETURN_IF_ERROR(enter(groups_.front()));
  }
  return Status();
}

/// Changes the references in elements that were read from the old file.
class Renewal {
 public:
  Renewal(const CopiedPair& files, const CopiedObjects& objects) : files_(files), objects_(objects) {}
  /// Renews one element of the type, in memory.
  Status renew(hid_t type, std::byte* element, int depth = 0);
  /// Returns how many were met that aren't null.
  int64_t met() const { return met_; }

 private:
  Status renew_reference(hid_t type, std::byte* element);
  Status renew_region(std::byte* element);
  Status renew_members(hid_t type, std::byte* element, int depth);
  Status renew_row(hid_t base, std::byte* elements, size_t count, int depth);

  const CopiedPair& files_;
  const CopiedObjects& objects_;
  int64_t met_ = 0;
};

// A region is kept in the file's heap: another one is made in that of the new file.
Status Renewal::renew_region(std::byte* element) {
  hdset_reg_ref_t region;
  std::memcpy(&region, element, sizeof region);
  std::memset(element, 0, sizeof region);
  constexpr size_t kMostPath = 64 << 10;
  std::vector<char> path(kMostPath);
  const Id space(H5Rget_region(files_.old_file, H5R_DATASET_REGION, &region));
  const bool known = space.valid() && H5Rget_name(files_.old_file, H5R_DATASET_REGION, &region, path.data(), path.size()) > 0;
  if (!known) {
    H5Eclear2(H5E_DEFAULT);
    return Status();
  }
  hdset_reg_ref_t renewed;
  if (H5Rcreate(&renewed, files_.new_file, (files_.new_root + path.data()).c_str(), H5R_DATASET_REGION, space.get()) < 0) {
    return last_error(ErrorCode::kCorrupted, std::string("a reference to a region of '") + path.data() + "' can't be made");
  }
  std::memcpy(element, &renewed, sizeof renewed);
  return Status();
}

Status Renewal::renew_reference(hid_t type, std::byte* element) {
  const size_t bytes = H5Tget_size(type);
  if (std::all_of(element, element + bytes, [](std::byte byte) { return byte == std::byte{0}; })) {
    return Status();
  }
  ++met_;
  if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0) {
    return renew_region(element);
  }
  if (H5Tequal(type, H5T_STD_REF_OBJ) <= 0) {
    return Status(ErrorCode::kUnsupported, "it holds references of a newer kind");
  }
  hobj_ref_t address = 0;
  std::memcpy(&address, element, sizeof address);
  const auto object = objects_.find(static_cast<int64_t>(address));
  address = object == objects_.end() ? 0 : static_cast<hobj_ref_t>(object->second.new_address);
  std::memcpy(element, &address, sizeof address);
  return Status();
}

Status Renewal::renew_row(hid_t base, std::byte* elements, size_t count, int depth) {
  const size_t bytes = H5Tget_size(base);
  for (size_t i = 0; i < count; ++i) {
    STRIA_RETURN_IF_ERROR(renew(base, elements + i * bytes, depth + 1));
  }
  return Status();
}

Status Renewal::renew_members(hid_t type, std::byte* element, int depth) {
  const int count = H5Tget_nmembers(type);
  for (unsigned i = 0; count > 0 && i < static_cast<unsigned>(count); ++i) {
    const Id member(H5Tget_member_type(type, i));
    STRIA_RETURN_IF_ERROR(renew(member.get(), element + H5Tget_member_offset(type, i), depth + 1));
  }
  return Status();
}

Status Renewal::renew(hid_t type, std::byte* element, int depth) {
  if (depth > ElementSpec::kMostNested) {
    return Status(ErrorCode::kUnsupported, "its type is nested more than 32 deep");
  }
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_REFERENCE) {
    return renew_reference(type, element);
  }
  if (kind == H5T_COMPOUND) {
    return renew_members(type, element, depth);
  }
  if (kind == H5T_VLEN) {
    const Id base(H5Tget_super(type));
    hvl_t list{};
    std::memcpy(&list, element, sizeof list);
    return list.p == nullptr ? Status() : renew_row(base.get(), static_cast<std::byte*>(list.p), list.len, depth);
  }
  if (kind == H5T_ARRAY) {
    const Id base(H5Tget_super(type));
    const size_t bytes = H5Tget_size(base.get());
    return bytes == 0 ? Status() : renew_row(base.get(), element, H5Tget_size(type) / bytes, depth);
  }
  return Status();
}

/// Elements in memory, with the lists that they point to.
class CopiedElements {
 public:
  CopiedElements(hid_t type, hid_t space, size_t count) : type_(type), space_(space), bytes_(H5Tget_size(type) * count) {}
  CopiedElements(const CopiedElements&) = delete;
  CopiedElements& operator=(const CopiedElements&) = delete;
  ~CopiedElements() { H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data()); }
  std::byte* data() { return bytes_.data(); }
  std::byte* at(size_t index) { return bytes_.data() + index * H5Tget_size(type_); }

 private:
  hid_t type_, space_;
  std::vector<std::byte> bytes_;
};

bool holds_references(hid_t type) {
  return H5Tdetect_class(type, H5T_REFERENCE) > 0;
}

/// Gives one object its references.
class ObjectRenewal {
 public:
  ObjectRenewal(const CopiedPair& files, const CopiedObjects& objects, const CopiedObject& object)
      : files_(files), objects_(objects), object_(object) {}
  Status run();
  /// Gives it all attributes of the old object, in their order. It has none.
  Status copy_attributes();

 private:
  Status open();
  std::string name() const { return object_.path.empty() ? "/" : object_.path; }
  Status copy_attribute(const std::string& name);
  Status renew_attribute(const std::string& name);
  Status renew_dataset();
  Status check_storage(bool& has_elements) const;
  Status renew_rows(hid_t type, hid_t space);

  const CopiedPair& files_;
  const CopiedObjects& objects_;
  const CopiedObject& object_;
  Id old_, new_;
};

/// Returns the type that an attribute of the new file gets: the copy of a named one, if it has
/// such.
Result<Id> type_in_new(const CopiedPair& files, const CopiedObjects& objects, hid_t type) {
  if (H5Tcommitted(type) <= 0) {
    return Id(H5Tcopy(type));
  }
  const auto named = objects.find(address_of(type));
  if (named == objects.end()) {
    return Status(ErrorCode::kUnsupported, "its type has no name any more");
  }
  return files.open_new(named->second.path);
}

Status ObjectRenewal::copy_attribute(const std::string& name) {
  const Id from(H5Aopen(old_.get(), name.c_str(), H5P_DEFAULT));
  const Id type(from.valid() ? H5Aget_type(from.get()) : H5I_INVALID_HID);
  if (!type.valid()) {
    return last_error(ErrorCode::kCorrupted, "it can't be read");
  }
  const Id space(H5Aget_space(from.get()));
  const Id creation(H5Aget_create_plist(from.get()));
  STRIA_ASSIGN_OR_RETURN(const Id new_type, type_in_new(files_, objects_, type.get()));
  const Id to(H5Acreate2(new_.get(), name.c_str(), new_type.get(), space.get(), creation.get(), H5P_DEFAULT));
  const auto count = static_cast<size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.get()), 0));
  CopiedElements elements(type.get(), space.get(), count);
  if (count > 0 && H5Aread(from.get(), type.get(), elements.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "it can't be read");
  }
  Renewal renewal(files_, objects_);
  for (size_t i = 0; holds_references(type.get()) && i < count; ++i) {
    STRIA_RETURN_IF_ERROR(renewal.renew(type.get(), elements.at(i)));
  }
  if (!to.valid() || (count > 0 && H5Awrite(to.get(), type.get(), elements.data()) < 0)) {
    return last_error(ErrorCode::kIo, "it can't be written");
  }
  return Status();
}

Status ObjectRenewal::copy_attributes() {
  STRIA_RETURN_IF_ERROR(open());
  STRIA_ASSIGN_OR_RETURN(const auto attributes, list_attributes(old_.get()));
  for (const std::string& attribute : attributes) {
    STRIA_RETURN_IF_ERROR(copy_attribute(attribute).with_context("attribute '" + attribute + "' of '" + name() + "'"));
  }
  return Status();
}

Status ObjectRenewal::renew_attribute(const std::string& name) {
  const Id from(H5Aopen(old_.get(), name.c_str(), H5P_DEFAULT));
  const Id type(from.valid() ? H5Aget_type(from.get()) : H5I_INVALID_HID);
  if (!type.valid()) {
    return last_error(ErrorCode::kCorrupted, "it can't be read");
  }
  const Id space(H5Aget_space(from.get()));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (!holds_references(type.get()) || count <= 0) {
    return Status();
  }
  CopiedElements elements(type.get(), space.get(), static_cast<size_t>(count));
  if (H5Aread(from.get(), type.get(), elements.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "it can't be read");
  }
  Renewal renewal(files_, objects_);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    STRIA_RETURN_IF_ERROR(renewal.renew(type.get(), elements.at(i)));
  }
  const Id to(renewal.met() > 0 ? H5Aopen(new_.get(), name.c_str(), H5P_DEFAULT) : H5I_INVALID_HID);
  if (renewal.met() > 0 && (!to.valid() || H5Awrite(to.get(), type.get(), elements.data()) < 0)) {
    return last_error(ErrorCode::kIo, "it can't be written");
  }
  return Status();
}

Status ObjectRenewal::check_storage(bool& has_elements) const {
  const Id creation(H5Dget_create_plist(old_.get()));
  H5D_space_status_t allocation = H5D_SPACE_STATUS_ERROR;
  if (!creation.valid() || H5Dget_space_status(old_.get(), &allocation) < 0) {
    return last_error(ErrorCode::kCorrupted, "its storage can't be read");
  }
  if (H5Pget_external_count(creation.get()) > 0) {
    return Status(ErrorCode::kUnsupported, "it holds references, in another file, which would lead nowhere");
  }
  has_elements = allocation != H5D_SPACE_STATUS_NOT_ALLOCATED && H5Pget_layout(creation.get()) != H5D_VIRTUAL;
  return Status();
}

// Elements without references aren't written, so that chunks that nobody has written stay so. Both
// spaces have the same rank: release 1.10 overruns its memory where points are to be projected.
void select_points(hid_t memory, hid_t space, hsize_t row, const std::vector<hsize_t>& points) {
  std::vector<hsize_t> dims(static_cast<size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  std::vector<hsize_t> indices(points.size() * dims.size());
  for (size_t i = 0; i < points.size(); ++i) {
    hsize_t rest = points[i];
    for (size_t dim = dims.size(); dim-- > 0; rest /= dims[dim]) {
      indices[i * dims.size() + dim] = rest % dims[dim];
    }
  }
  H5Sselect_elements(memory, H5S_SELECT_SET, points.size(), indices.data());
  for (size_t i = 0; i < points.size(); ++i) {
    indices[i * dims.size()] += row;
  }
  H5Sselect_elements(space, H5S_SELECT_SET, points.size(), indices.data());
}

Status ObjectRenewal::renew_rows(hid_t type, hid_t space) {
  std::vector<hsize_t> start(static_cast<size_t>(H5Sget_simple_extent_ndims(space)));
  std::vector<hsize_t> count(start.size());
  const auto points = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space));
  if (!count.empty()) {
    H5Sget_simple_extent_dims(space, count.data(), nullptr);
  }
  const hsize_t rows = count.empty() ? 1 : count[0];
  const hsize_t row_points = points / rows;
  const hsize_t at_once = std::max<hsize_t>(kAtOnceBytes / (row_points * H5Tget_size(type)), 1);
  for (hsize_t row = 0, taken = 0; row < rows; row += taken) {
    taken = std::min(at_once, rows - row);
    const hsize_t points_taken = taken * row_points;
    if (!count.empty()) {
      start[0] = row;
      count[0] = taken;
    }
    const Id memory(count.empty() ? H5Screate(H5S_SCALAR)
                                  : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
    if (!count.empty()) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    }
    CopiedElements elements(type, memory.get(), points_taken);
    if (H5Dread(old_.get(), type, memory.get(), space, H5P_DEFAULT, elements.data()) < 0) {
      return last_error(ErrorCode::kCorrupted, "its elements can't be read");
    }
    std::vector<hsize_t> renewed;
    Renewal renewal(files_, objects_);
    for (size_t i = 0; i < points_taken; ++i) {
      const int64_t before = renewal.met();
      STRIA_RETURN_IF_ERROR(renewal.renew(type, elements.at(i)));
      if (renewal.met() > before) {
        renewed.push_back(i);
      }
    }
    if (!renewed.empty() && renewed.size() < points_taken) {
      select_points(memory.get(), space, row, renewed);
    }
    if (!renewed.empty() && H5Dwrite(new_.get(), type, memory.get(), space, H5P_DEFAULT, elements.data()) < 0) {
      return last_error(ErrorCode::kIo, "its elements can't be written");
    }
    H5Sselect_all(memory.get());
  }
  return Status();
}

Status ObjectRenewal::renew_dataset() {
  const Id type(H5Dget_type(old_.get()));
  const Id space(H5Dget_space(old_.get()));
  if (!type.valid() || !space.valid()) {
    return last_error(ErrorCode::kCorrupted, "it can't be read");
  }
  if (!holds_references(type.get()) || H5Sget_simple_extent_npoints(space.get()) <= 0) {
    return Status();
  }
  bool has_elements = false;
  STRIA_RETURN_IF_ERROR(check_storage(has_elements));
  return has_elements ? renew_rows(type.get(), space.get()) : Status();
}

Status ObjectRenewal::open() {
  old_ = files_.open_old(object_.path);
  new_ = files_.open_new(object_.path);
  return old_.valid() && new_.valid() ? Status() : unreadable_object(object_.path);
}

Status ObjectRenewal::run() {
  STRIA_RETURN_IF_ERROR(open());
  STRIA_ASSIGN_OR_RETURN(const auto attributes, list_attributes(old_.get()));
  for (const std::string& attribute : attributes) {
    STRIA_RETURN_IF_ERROR(renew_attribute(attribute).with_context("attribute '" + attribute + "' of '" + name() + "'"));
  }
  return object_.type == H5I_DATASET ? renew_dataset().with_context("dataset '" + name() + "'") : Status();
}

}  // namespace

Result<CopiedObjects> match_objects(const CopiedPair& files, int64_t old_root, int64_t new_root) {
  Matching matching(files);
  STRIA_RETURN_IF_ERROR(matching.run(old_root, new_root));
  return matching.take();
}

Status copy_attributes(const CopiedPair& files, const CopiedObjects& objects, int64_t of) {
  const auto object = objects.find(of);
  return object == objects.end() ? Status(ErrorCode::kInternal, "an object with attributes has not been copied")
                                 : ObjectRenewal(files, objects, object->second).copy_attributes();
}

Status renew_references(const CopiedPair& files, const CopiedObjects& objects) {
  for (const auto& [address, object] : objects) {
    STRIA_RETURN_IF_ERROR(ObjectRenewal(files, objects, object).run());
  }
  return Status();
}

}  // namespace stria::container::h5
