#include "container/hdf5/read/objects.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

namespace stria::container::h5 {

namespace {

// libhdf5 doesn't recurse here. This bounds the recursion below on files made to exhaust the stack.
constexpr int kDepthMax = 256;

struct Link {
  std::string name;
  H5L_type_t type;
  int64_t address;  // of a hard link
};

// What an iteration of libhdf5 shows. Exceptions must not pass through its frames, so that a lack
// of memory ends the iteration.
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
  /// The reason why the iteration ended early.
  Status failure(const std::string& what) const {
    return ran_out ? Status(ErrorCode::kResourceExhausted, "out of memory") : last_error(ErrorCode::kCorrupted, what);
  }
};

int64_t address_of(hid_t group, const H5L_info_t& info) {
  haddr_t address = HADDR_UNDEF;
#if H5_VERSION_GE(1, 12, 0)
  if (info.type == H5L_TYPE_HARD && H5VLnative_token_to_addr(group, info.u.token, &address) < 0) {
    return -1;
  }
#else
  static_cast<void>(group);
  address = info.type == H5L_TYPE_HARD ? info.u.address : HADDR_UNDEF;
#endif
  return static_cast<int64_t>(address);
}

herr_t keep_link(hid_t group, const char* name, const H5L_info_t* info, void* shown) {
  return static_cast<Shown<Link>*>(shown)->add([&] { return Link{name, info->type, address_of(group, *info)}; });
}

herr_t keep_attribute(hid_t, const char* name, const H5A_info_t*, void* shown) {
  return static_cast<Shown<std::string>*>(shown)->add([&] { return std::string(name); });
}

struct Object {
  H5O_type_t type = H5O_TYPE_UNKNOWN;
  std::string identity;  ///< the same for all links to one object
};

bool get_object(hid_t group, const char* name, Object* object) {
  H5O_info_t info;
#if H5_VERSION_GE(1, 12, 0)
  if (H5Oget_info_by_name3(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
    return false;
  }
  object->identity.assign(reinterpret_cast<const char*>(&info.token), sizeof(info.token));
#else
  if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
    return false;
  }
  object->identity = std::to_string(info.addr);
#endif
  object->type = info.type;
  return true;
}

/// The links of a group in order of their names; `failed` says what couldn't be done.
Result<std::vector<Link>> links_of(hid_t group, const std::string& failed) {
  Shown<Link> shown;
  // In native order. For any other order libhdf5 1.10 builds a table, which it frees half-built
  // when the group is damaged.
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_link, &shown) < 0) {
    return shown.failure(failed);
  }
  std::sort(shown.entries.begin(), shown.entries.end(), [](const Link& a, const Link& b) { return a.name < b.name; });
  return std::move(shown.entries);
}

class Walk {
 public:
  Status visit(hid_t group, const std::string& prefix, int depth);
  Status start(hid_t file);
  std::vector<std::string> take() { return std::move(paths_); }

 private:
  Status visit_link(hid_t group, const std::string& prefix, const Link& link, int depth);

  std::set<std::string> entered_;
  std::vector<std::string> paths_;
};

Status Walk::start(hid_t file) {
  Object root;
  if (!get_object(file, "/", &root)) {
    return last_error(ErrorCode::kCorrupted, "the root group can't be read");
  }
  entered_.insert(root.identity);
  const Id group(H5Gopen2(file, "/", H5P_DEFAULT));
  return group.valid() ? visit(group.get(), "", 0) : last_error(ErrorCode::kCorrupted, "the root group can't be read");
}

Status Walk::visit(hid_t group, const std::string& prefix, int depth) {
  if (depth > kDepthMax) {
    return Status(ErrorCode::kUnsupported, "groups nested more than " + std::to_string(kDepthMax) + " deep");
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<Link> links, links_of(group, "group '/" + prefix + "' can't be read"));
  for (const Link& link : links) {
    STRIA_RETURN_IF_ERROR(visit_link(group, prefix, link, depth));
  }
  return Status();
}

Status Walk::visit_link(hid_t group, const std::string& prefix, const Link& link, int depth) {
  if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
    return Status();
  }
  const std::string path = prefix + link.name;
  Object object;
  if (!get_object(group, link.name.c_str(), &object)) {
    const Status status = last_error(ErrorCode::kCorrupted, "object '" + path + "' can't be read");
    return link.type == H5L_TYPE_SOFT ? Status() : status;
  }
  if (object.type == H5O_TYPE_DATASET) {
    paths_.push_back(path);
    return Status();
  }
  if (object.type != H5O_TYPE_GROUP) {
    return Status();
  }
  paths_.push_back(path + '/');
  if (!entered_.insert(object.identity).second) {
    return Status();
  }
  const Id inner(H5Gopen2(group, link.name.c_str(), H5P_DEFAULT));
  return inner.valid() ? visit(inner.get(), path + '/', depth + 1)
                       : last_error(ErrorCode::kCorrupted, "group '" + path + "' can't be read");
}

}  // namespace

Result<std::vector<std::string>> list_objects(hid_t file) {
  Walk walk;
  STRIA_RETURN_IF_ERROR(walk.start(file));
  return walk.take();
}

Result<std::vector<std::pair<std::string, int64_t>>> list_members(hid_t group) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<Link> links, links_of(group, "its members can't be read"));
  std::vector<std::pair<std::string, int64_t>> members;
  for (const Link& link : links) {
    members.emplace_back(link.name, link.address);
  }
  return members;
}

Result<std::vector<std::string>> list_attributes(hid_t object) {
  Shown<std::string> shown;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_attribute, &shown) < 0) {
    return shown.failure("the attributes can't be read");
  }
  std::sort(shown.entries.begin(), shown.entries.end());
  return std::move(shown.entries);
}

}  // namespace stria::container::h5
