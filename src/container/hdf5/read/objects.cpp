#include "container/hdf5/read/objects.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "container/hdf5/read/libhdf5/library_calls.hpp"

namespace stria::container::h5 {

namespace {

// libhdf5 doesn't recurse here. This bounds the recursion below on files made to exhaust the stack.
constexpr int kGroupDepthMax = 256;

using MemberKind = GroupMember::Kind;

// Says what an iteration of libhdf5 shows. Exceptions must not pass through its frames, so that a
// lack of memory ends the iteration.
template <typename Entry>
struct Shown {
  std::vector<Entry> entries;
  bool ran_out = false;

  template <typename Make>
  herr_t add(Make&& make) {
    try {
      entries.push_back(make());
      return 0;
    } catch (const std::bad_alloc&) {
      ran_out = true;
      return -1;
    }
  }
  /// Returns the reason why the iteration ended early.
  Status failure(const std::string& what) const {
    return ran_out ? Status(ErrorCode::kResourceExhausted, "out of memory") : last_error(ErrorCode::kCorrupted, what);
  }
};

herr_t keep_link(hid_t group, const char* name, const LinkInfo* info, void* shown) {
  const MemberKind kind = info->type == H5L_TYPE_HARD       ? MemberKind::kHard
                          : info->type == H5L_TYPE_SOFT     ? MemberKind::kSoft
                          : info->type == H5L_TYPE_EXTERNAL ? MemberKind::kExternal
                                                            : MemberKind::kOther;
  return static_cast<Shown<GroupMember>*>(shown)->add([&] {
    return GroupMember{.name = name,
                       .kind = kind,
                       .address = address_in(group, *info),
                       .target = {},
                       .file = {},
                       .order = info->corder_valid ? info->corder : -1};
  });
}

struct NamedAttribute {
  std::string name;
  int64_t order = -1;
};

// Other objects than those that keep an order have numbers too, which mean nothing.
bool keeps_attribute_order(hid_t object) {
  const H5I_type_t type = H5Iget_type(object);
  const Id creation(type == H5I_DATASET ? H5Dget_create_plist(object)
                    : type == H5I_GROUP ? H5Gget_create_plist(object)
                                        : H5I_INVALID_HID);
  unsigned order = 0;
  return creation.valid() && H5Pget_attr_creation_order(creation.get(), &order) >= 0 && (order & H5P_CRT_ORDER_TRACKED) != 0;
}

herr_t keep_attribute(hid_t, const char* name, const H5A_info_t* info, void* shown) {
  return static_cast<Shown<NamedAttribute>*>(shown)->add([&] {
    return NamedAttribute{name, static_cast<int64_t>(info->corder)};
  });
}

// Sorts by creation, or by names.
template <typename Named>
void put_in_order(std::vector<Named>& list, bool by_creation) {
  std::sort(list.begin(), list.end(), [&](const Named& a, const Named& b) {
    return by_creation && a.order != b.order ? a.order < b.order : a.name < b.name;
  });
}

/// Returns the links of a group in their order; `failed` says what couldn't be done.
Result<std::vector<GroupMember>> links_of(hid_t group, const std::string& failed) {
  Shown<GroupMember> shown;
  // The links come in native order. For any other order libhdf5 1.10 builds a table, which it frees
  // half-built when the group is damaged.
  if (iterate_links(group, keep_link, &shown) < 0) {
    return shown.failure(failed);
  }
  const auto has_order = [](const GroupMember& link) { return link.order >= 0; };
  put_in_order(shown.entries, std::all_of(shown.entries.begin(), shown.entries.end(), has_order));
  return std::move(shown.entries);
}

}  // namespace

Status find_target(hid_t group, GroupMember& link) {
  const auto damaged = [&] { return last_error(ErrorCode::kCorrupted, "link '" + link.name + "' can't be read"); };
  const std::optional<LinkInfo> info = link_info(group, link.name);
  if (!info) {
    return damaged();
  }
  std::vector<char> value(info->u.val_size + 1);
  if (H5Lget_val(group, link.name.c_str(), value.data(), info->u.val_size, H5P_DEFAULT) < 0) {
    return damaged();
  }
  if (link.kind == MemberKind::kSoft) {
    link.target = value.data();
    return Status();
  }
  const char* file = nullptr;
  const char* path = nullptr;
  if (H5Lunpack_elink_val(value.data(), info->u.val_size, nullptr, &file, &path) < 0) {
    return damaged();
  }
  link.file = file;
  link.target = path;
  return Status();
}

namespace {

bool leads_by_path(const GroupMember& link) {
  return link.kind == MemberKind::kSoft || link.kind == MemberKind::kExternal;
}

// The same for all links to one object, also of several files.
using Identity = std::pair<unsigned long, int64_t>;

Identity identity_of(const ObjectPlace& object) {
  return {object.file, object.address};
}

class Walk {
 public:
  Status visit(hid_t group, const std::string& prefix, int depth);
  Status start(hid_t file);
  Listed take();

 private:
  Status visit_link(hid_t group, const std::string& prefix, GroupMember& link, int depth);
  bool is_alias(const GroupMember& link, const ObjectPlace& object, const std::string& path);

  struct SoftPath {
    std::string path;
    Identity identity;
  };

  std::map<Identity, std::string> path_of_;  // the first hard link of each identity
  std::vector<SoftPath> soft_paths_;         // an object may come behind its soft links
  Listed listed_;
};

Listed Walk::take() {
  for (SoftPath& soft : soft_paths_) {
    if (const auto object = path_of_.find(soft.identity); object != path_of_.end()) {
      listed_.aliases.push_back({.path = std::move(soft.path), .of = object->second});
    }
  }
  return std::move(listed_);
}

// Tells whether it has a path already, or gets one later. Else it goes by this one.
bool Walk::is_alias(const GroupMember& link, const ObjectPlace& object, const std::string& path) {
  if (link.kind == MemberKind::kSoft) {
    soft_paths_.push_back({path, identity_of(object)});
    return true;
  }
  const auto [known, is_new] = path_of_.emplace(identity_of(object), path);
  if (!is_new) {
    listed_.aliases.push_back({.path = path, .of = known->second});
  }
  return !is_new;
}

Status Walk::start(hid_t file) {
  const std::optional<ObjectPlace> root = place_of(file, "/");
  if (!root) {
    return last_error(ErrorCode::kCorrupted, "the root group can't be read");
  }
  path_of_.emplace(identity_of(*root), "");
  const Id group(H5Gopen2(file, "/", H5P_DEFAULT));
  return group.valid() ? visit(group.get(), "", 0) : last_error(ErrorCode::kCorrupted, "the root group can't be read");
}

Status Walk::visit(hid_t group, const std::string& prefix, int depth) {
  if (depth > kGroupDepthMax) {
    return Status(ErrorCode::kUnsupported, "groups nested more than " + std::to_string(kGroupDepthMax) + " deep");
  }
  STRIA_ASSIGN_OR_RETURN(std::vector<GroupMember> links, links_of(group, "group '/" + prefix + "' can't be read"));
  for (GroupMember& link : links) {
    STRIA_RETURN_IF_ERROR(visit_link(group, prefix, link, depth));
  }
  return Status();
}

Status Walk::visit_link(hid_t group, const std::string& prefix, GroupMember& link, int depth) {
  std::string path = prefix + link.name;
  if (leads_by_path(link)) {
    STRIA_RETURN_IF_ERROR(find_target(group, link));
    const auto order = static_cast<int64_t>(listed_.paths.size());
    listed_.links.push_back({.path = path, .target = link.target, .file = link.file, .order = order});
  }
  if (link.kind != MemberKind::kHard && link.kind != MemberKind::kSoft) {
    return Status();
  }
  const std::optional<ObjectPlace> object = place_of(group, link.name);
  if (!object) {
    const Status status = last_error(ErrorCode::kCorrupted, "object '" + path + "' can't be read");
    return link.kind == MemberKind::kSoft ? Status() : status;
  }
  if (object->type != H5O_TYPE_DATASET && object->type != H5O_TYPE_GROUP) {
    return Status();
  }
  path += object->type == H5O_TYPE_GROUP ? "/" : "";
  listed_.paths.push_back(path);
  if (is_alias(link, *object, path) || object->type == H5O_TYPE_DATASET) {
    return Status();
  }
  const Id inner(H5Gopen2(group, link.name.c_str(), H5P_DEFAULT));
  return inner.valid() ? visit(inner.get(), path, depth + 1)
                       : last_error(ErrorCode::kCorrupted, "group '" + path + "' can't be read");
}

}  // namespace

Result<Listed> list_objects(hid_t file) {
  Walk walk;
  STRIA_RETURN_IF_ERROR(walk.start(file));
  return walk.take();
}

Result<std::vector<GroupMember>> list_links(hid_t group) {
  return links_of(group, "its members can't be read");
}

Result<std::vector<GroupMember>> list_members(hid_t group) {
  STRIA_ASSIGN_OR_RETURN(std::vector<GroupMember> links, list_links(group));
  for (GroupMember& link : links) {
    STRIA_RETURN_IF_ERROR(leads_by_path(link) ? find_target(group, link) : Status());
  }
  return links;
}

namespace {

std::vector<std::string> names_in_order(std::vector<NamedAttribute> attributes, bool by_creation) {
  put_in_order(attributes, by_creation);
  std::vector<std::string> names;
  for (NamedAttribute& attribute : attributes) {
    names.push_back(std::move(attribute.name));
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> list_attributes(hid_t object) {
  Shown<NamedAttribute> shown;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_attribute, &shown) < 0) {
    return shown.failure("the attributes can't be read");
  }
  return names_in_order(std::move(shown.entries), keeps_attribute_order(object));
}

Result<std::vector<std::string>> list_attributes(const ObjectMessages& header) {
  std::vector<NamedAttribute> attributes;
  bool is_complete = !has_attributes_outside(header);
  for (const HeaderMessage& message : header.messages) {
    if (auto head = attribute_head(message)) {
      attributes.push_back({std::move(head->name), message.order});
    } else {
      is_complete = is_complete && !is(message, Message::kAttribute);
    }
  }
  if (!is_complete) {
    return Status(ErrorCode::kUnsupported, "some of the attributes are outside of the header");
  }
  return names_in_order(std::move(attributes), header.orders_attributes);
}

}  // namespace stria::container::h5
