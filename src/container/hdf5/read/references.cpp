#include "container/hdf5/read/references.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/libhdf5/library_calls.hpp"
#include "container/hdf5/read/objects.hpp"
#include "container/hdf5/read/values/list_checks.hpp"
#include "container/hdf5/read/values/values.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kValueBytesMax = 64 << 20;

struct Found {
  int64_t address = 0;  // the address of a header
  int64_t at = 0;       // in the value
};

/// Collects the references of one value.
class ValueWalk {
 public:
  explicit ValueWalk(hid_t object) : object_(object) {}
  /// The bytes are an element of the type, in memory.
  void visit(hid_t type, const std::byte* element, int64_t at, int depth);
  /// Lists and strings of variable length have another size in memory than in the file.
  bool has_lists() const { return has_lists_; }
  const std::vector<Found>& found() const { return found_; }

 private:
  void visit_reference(hid_t type, const std::byte* element, int64_t at);
  void visit_list(hid_t type, const std::byte* element, int depth);
  void visit_array(hid_t type, const std::byte* element, int64_t at, int depth);
  void visit_members(hid_t type, const std::byte* element, int64_t at, int depth);
  int64_t address_of_region(const std::byte* element) const;

  hid_t object_;
  bool has_lists_ = false;
  std::vector<Found> found_;
};

// Returns what a region is of, or 0.
int64_t ValueWalk::address_of_region(const std::byte* element) const {
  const Id dataset(H5Rdereference2(object_, H5P_DEFAULT, H5R_DATASET_REGION, element));
  const auto place = dataset.valid() ? place_of(dataset.get()) : std::nullopt;
  H5Eclear2(H5E_DEFAULT);
  return place ? place->address : 0;
}

void ValueWalk::visit_reference(hid_t type, const std::byte* element, int64_t at) {
  if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) {
    hobj_ref_t address = 0;
    std::memcpy(&address, element, sizeof address);
    found_.push_back({static_cast<int64_t>(address), at});
  } else {
    found_.push_back({address_of_region(element), HeldReference::kUnknown});
  }
}

void ValueWalk::visit_list(hid_t type, const std::byte* element, int depth) {
  has_lists_ = true;
  const Id base(H5Tget_super(type));
  const size_t bytes = H5Tget_size(base.get());
  hvl_t list{};
  std::memcpy(&list, element, sizeof list);
  for (size_t i = 0; i < list.len && list.p != nullptr; ++i) {
    visit(base.get(), static_cast<const std::byte*>(list.p) + i * bytes, HeldReference::kUnknown, depth + 1);
  }
}

void ValueWalk::visit_array(hid_t type, const std::byte* element, int64_t at, int depth) {
  const Id base(H5Tget_super(type));
  const size_t bytes = H5Tget_size(base.get());
  const size_t count = bytes > 0 ? H5Tget_size(type) / bytes : 0;
  for (size_t i = 0; i < count; ++i) {
    const auto offset = static_cast<int64_t>(i * bytes);
    visit(base.get(), element + offset, at < 0 ? at : at + offset, depth + 1);
  }
}

void ValueWalk::visit_members(hid_t type, const std::byte* element, int64_t at, int depth) {
  const int count = H5Tget_nmembers(type);
  for (unsigned i = 0; count > 0 && i < static_cast<unsigned>(count); ++i) {
    const Id member(H5Tget_member_type(type, i));
    const auto offset = static_cast<int64_t>(H5Tget_member_offset(type, i));
    visit(member.get(), element + offset, at < 0 ? at : at + offset, depth + 1);
  }
}

void ValueWalk::visit(hid_t type, const std::byte* element, int64_t at, int depth) {
  if (depth > ElementSpec::kMostNested) {
    return;
  }
  switch (H5Tget_class(type)) {
    case H5T_REFERENCE:
      return visit_reference(type, element, at);
    case H5T_VLEN:
      return visit_list(type, element, depth);
    case H5T_ARRAY:
      return visit_array(type, element, at, depth);
    case H5T_COMPOUND:
      return visit_members(type, element, at, depth);
    case H5T_STRING:
      has_lists_ = has_lists_ || H5Tis_variable_str(type) > 0;
      return;
    default:
      return;
  }
}

/// Goes through all objects of a file.
class ReferenceWalk {
 public:
  ReferenceWalk(hid_t file, const MetadataSource& source) : file_(file), source_(source) {}
  Status run();
  std::vector<HeldReference> take() { return std::move(held_); }

 private:
  struct Place {
    std::string path;
    int64_t address = 0;
  };
  Status visit(const Place& place);
  Status enter(const Place& group);
  Status look_at_attributes(hid_t object, const Place& place, const ObjectMessages& header);
  void look_at_elements(hid_t object, const Place& place);
  void keep(const Place& place, const std::string& attribute, const ValueWalk& walk);

  hid_t file_;
  const MetadataSource& source_;
  std::vector<Place> left_;  // to be visited
  std::set<int64_t> seen_;
  std::vector<HeldReference> held_;
};

// Says whether a value holds references, and how many bytes it has in memory; 0 where that is
// nothing or too much.
struct ValueSize {
  bool refers = false;
  int64_t elements = 0;
  int64_t bytes = 0;
};

ValueSize size_of(hid_t type, hid_t space) {
  ValueSize size{.refers = H5Tdetect_class(type, H5T_REFERENCE) > 0};
  size.elements = std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0);
  if (!checked_multiply(size.elements, static_cast<int64_t>(H5Tget_size(type)), &size.bytes) || size.bytes > kValueBytesMax) {
    size.bytes = 0;
  }
  return size;
}

// `read` fills the value.
template <typename Read>
bool walk_value(ValueWalk& walk, hid_t type, hid_t space, const ValueSize& size, const Read& read) {
  std::vector<std::byte> value(static_cast<size_t>(size.bytes));
  const bool done = !value.empty() && read(value.data()) >= 0;
  for (int64_t i = 0; done && i < size.elements; ++i) {
    const int64_t at = i * (size.bytes / size.elements);
    walk.visit(type, value.data() + at, at, 0);
  }
  if (done && walk.has_lists()) {
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, value.data());
  }
  H5Eclear2(H5E_DEFAULT);
  return done;
}

void ReferenceWalk::keep(const Place& place, const std::string& attribute, const ValueWalk& walk) {
  for (const Found& found : walk.found()) {
    if (found.address != 0) {  // 0 names nothing.
      const int64_t at = walk.has_lists() ? HeldReference::kUnknown : found.at;
      held_.push_back({.holder = place.path, .attribute = attribute, .address = found.address, .at = at});
    }
  }
}

Status ReferenceWalk::look_at_attributes(hid_t object, const Place& place, const ObjectMessages& header) {
  std::vector<std::string> names;
  if (has_attributes_outside(header)) {
    STRIA_ASSIGN_OR_RETURN(names, list_attributes(object));
  }
  for (const HeaderMessage& message : header.messages) {
    const auto head = attribute_head(message);
    if (head && head->may_refer && std::find(names.begin(), names.end(), head->name) == names.end()) {
      names.push_back(head->name);
    }
  }
  for (const std::string& name : names) {
    const Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!attribute.valid()) {
      const Status status = last_error(ErrorCode::kCorrupted, "attribute '" + name + "' of '" + place.path + "' can't be read");
      if (status.code() != ErrorCode::kUnsupported) {
        return status;
      }
      held_.push_back({.holder = place.path, .attribute = name});  // It comes from a newer release.
      continue;
    }
    const Id type(H5Aget_type(attribute.get()));
    const Id space(H5Aget_space(attribute.get()));
    if (!type.valid() || !space.valid()) {
      return last_error(ErrorCode::kCorrupted, "attribute '" + name + "' of '" + place.path + "' can't be read");
    }
    const ValueSize size = size_of(type.get(), space.get());
    if (!size.refers || size.elements == 0) {
      continue;
    }
    ValueWalk walk(object);
    const auto read = [&](void* value) { return H5Aread(attribute.get(), type.get(), value); };
    const bool is_sound = check_attribute_lists(attribute.get()).ok();
    if (is_sound && walk_value(walk, type.get(), space.get(), size, read)) {
      keep(place, name, walk);
    } else {
      held_.push_back({.holder = place.path, .attribute = name});
    }
  }
  return Status();
}

void ReferenceWalk::look_at_elements(hid_t object, const Place& place) {
  const Id type(H5Dget_type(object));
  const Id space(H5Dget_space(object));
  const ValueSize size = type.valid() && space.valid() ? size_of(type.get(), space.get()) : ValueSize{};
  if (!size.refers || size.elements == 0) {
    return;
  }
  ValueWalk walk(object);
  const auto read = [&](void* value) { return H5Dread(object, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value); };
  if (check_layout(object).ok() && check_lists(object).ok() && walk_value(walk, type.get(), space.get(), size, read)) {
    keep(place, "", walk);
  } else {
    held_.push_back({.holder = place.path, .attribute = {}});
  }
}

Status ReferenceWalk::enter(const Place& group) {
  const Id object(H5Oopen(file_, group.path.empty() ? "/" : group.path.c_str(), H5P_DEFAULT));
  if (!object.valid()) {
    return last_error(ErrorCode::kCorrupted, "group '" + group.path + "' can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<GroupMember> members, list_members(object.get()));
  for (const GroupMember& member : members) {
    if (member.kind == GroupMember::Kind::kHard && seen_.insert(member.address).second) {
      left_.push_back({group.path.empty() ? member.name : group.path + "/" + member.name, member.address});
    }
  }
  return Status();
}

Status ReferenceWalk::visit(const Place& place) {
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source_, place.address));
  const bool has_elements = std::any_of(header.messages.begin(), header.messages.end(), may_refer);
  const bool has_attributes = has_attributes_outside(header) ||
                              std::any_of(header.messages.begin(), header.messages.end(), [](const HeaderMessage& message) {
                                const auto head = attribute_head(message);
                                return head && head->may_refer;
                              });
  if (is_group(header)) {
    STRIA_RETURN_IF_ERROR(enter(place));
  }
  if (!has_elements && !has_attributes) {
    return Status();
  }
  const Id object(H5Oopen(file_, place.path.empty() ? "/" : place.path.c_str(), H5P_DEFAULT));
  if (!object.valid()) {
    return last_error(ErrorCode::kCorrupted, "object '" + place.path + "' can't be read");
  }
  STRIA_RETURN_IF_ERROR(has_attributes ? look_at_attributes(object.get(), place, header) : Status());
  if (has_elements && H5Iget_type(object.get()) == H5I_DATASET) {
    look_at_elements(object.get(), place);
  }
  return Status();
}

Status ReferenceWalk::run() {
  const auto root = place_of(file_, "/");
  if (!root) {
    return last_error(ErrorCode::kCorrupted, "the root group can't be read");
  }
  seen_.insert(root->address);
  left_.push_back({"", root->address});
  while (!left_.empty()) {
    const Place place = std::move(left_.back());
    left_.pop_back();
    STRIA_RETURN_IF_ERROR(visit(place));
  }
  return Status();
}

}  // namespace

Result<std::vector<HeldReference>> find_references(hid_t file, const MetadataSource& source) {
  ReferenceWalk walk(file, source);
  STRIA_RETURN_IF_ERROR(walk.run());
  return walk.take();
}

}  // namespace stria::container::h5
