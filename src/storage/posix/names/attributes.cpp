#include "storage/posix/names/attributes.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/messages.hpp"

namespace stria::storage {

namespace {

constexpr std::string_view kAccessList = "system.posix_acl_access";
constexpr std::string_view kOfUser = "user.";
constexpr uint32_t kModeBits = 0777;
constexpr uint32_t kRights = 07;  // the bits of one of owner, group and others
constexpr int kGroupShift = 3;

// An access list as the system gives it: a number of four bytes, and entries of eight. Its numbers
// are little-endian, as are those of the machines for which Stria is built.
constexpr size_t kListHead = 4;
constexpr size_t kListEntryBytes = 8;
enum class Tag : uint16_t { kOwningGroup = 0x04, kOthers = 0x20 };

/// Returns the rights, one byte of eight, in the list's one entry of this kind; null where it has
/// none.
std::byte* rights_of(std::vector<std::byte>& list, Tag tag) {
  for (size_t at = kListHead; at + kListEntryBytes <= list.size(); at += kListEntryBytes) {
    uint16_t found = 0;
    std::memcpy(&found, &list[at], sizeof found);
    if (found == static_cast<uint16_t>(tag)) {
      return &list[at + sizeof found];
    }
  }
  return nullptr;
}

std::vector<std::byte>* access_list_of(FileAttributes& attributes) {
  const auto found = std::find_if(attributes.extended.begin(), attributes.extended.end(),
                                  [](const auto& one) { return one.first == kAccessList; });
  return found == attributes.extended.end() ? nullptr : &found->second;
}

/// Returns what the file's group may do. With a list, the mode's bits for the group are the list's
/// mask.
uint32_t rights_of_group(FileAttributes& attributes) {
  const uint32_t in_mode = attributes.mode >> kGroupShift & kRights;
  std::vector<std::byte>* const list = access_list_of(attributes);
  const std::byte* const group = list == nullptr ? nullptr : rights_of(*list, Tag::kOwningGroup);
  return group == nullptr ? in_mode : in_mode & static_cast<uint32_t>(*group);
}

uint32_t with_rights(uint32_t mode, uint32_t group, uint32_t others) {
  return (mode & ~(kRights << kGroupShift | kRights)) | group << kGroupShift | others;
}

/// The file gets another group than the one that was replaced: who was in one of the two and is now
/// in the other, or among the others, must not gain by it.
void narrow(FileAttributes& attributes) {
  const uint32_t both = rights_of_group(attributes) & attributes.mode & kRights;
  if (std::vector<std::byte>* const list = access_list_of(attributes)) {
    for (const Tag tag : {Tag::kOwningGroup, Tag::kOthers}) {
      if (std::byte* const rights = rights_of(*list, tag)) {
        *rights = static_cast<std::byte>(both);
      }
    }
    attributes.mode = with_rights(attributes.mode, attributes.mode >> kGroupShift & kRights, both);
    return;
  }
  attributes.mode = without_group(attributes.mode);
}

bool says_no_attributes(int error_number) {
  return error_number == EOPNOTSUPP || error_number == ENOSYS;
}

/// Returns the value, or nothing where it can't be read.
std::optional<std::vector<std::byte>> value_of(const std::string& path, const std::string& name) {
  constexpr size_t kMostBytes = XATTR_SIZE_MAX;
  std::vector<std::byte> value(kMostBytes);
  const ssize_t bytes = lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
  if (bytes < 0) {
    return std::nullopt;
  }
  value.resize(static_cast<size_t>(bytes));
  return value;
}

/// Returns the names that are kept.
std::vector<std::string> names_of(const std::string& path) {
  const ssize_t room = llistxattr(path.c_str(), nullptr, 0);
  std::string text(room > 0 ? static_cast<size_t>(room) : 0, '\0');
  const ssize_t bytes = room > 0 ? llistxattr(path.c_str(), text.data(), text.size()) : 0;
  std::vector<std::string> names;
  for (size_t at = 0; bytes > 0 && at < static_cast<size_t>(bytes);) {
    std::string name = text.c_str() + at;
    at += name.size() + 1;
    if (name == kAccessList || name.starts_with(kOfUser)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Tells whether the file now has the group. The owner is kept where the system lets this process
/// do so.
bool give_owner_and_group(int descriptor, const FileAttributes& attributes) {
  struct stat made = {};
  if (fstat(descriptor, &made) != 0) {
    return false;
  }
  if (made.st_uid == attributes.owner && made.st_gid == attributes.group) {
    return true;
  }
  return (made.st_uid != attributes.owner && fchown(descriptor, attributes.owner, attributes.group) == 0) ||
         made.st_gid == attributes.group || fchown(descriptor, static_cast<uid_t>(-1), attributes.group) == 0;
}

/// Tells whether the file system takes lists. The directory may have given the new file one.
Result<bool> give_access_list(int descriptor, const std::string& path, FileAttributes& attributes) {
  const std::string name(kAccessList);
  const std::vector<std::byte>* const list = access_list_of(attributes);
  const int result = list != nullptr ? fsetxattr(descriptor, name.c_str(), list->data(), list->size(), 0)
                                     : fremovexattr(descriptor, name.c_str());
  if (result == 0 || (list == nullptr && errno == ENODATA)) {
    return true;
  }
  return says_no_attributes(errno) || list == nullptr ? Result<bool>(false)
                                                      : Status::from_errno(errno, describe("set the access list of", path));
}

Status give_others(int descriptor, const std::string& path, const FileAttributes& attributes) {
  for (const auto& [name, value] : attributes.extended) {
    if (name == kAccessList || fsetxattr(descriptor, name.c_str(), value.data(), value.size(), 0) == 0 ||
        says_no_attributes(errno) || errno == EPERM || errno == EACCES) {
      continue;
    }
    return Status::from_errno(errno, describe("set attribute", path) + " " + name);
  }
  return Status();
}

}  // namespace

FileAttributes attributes_of(const std::string& path, const struct stat& details) {
  FileAttributes attributes{.mode = details.st_mode & kModeBits, .owner = details.st_uid, .group = details.st_gid};
  for (std::string& name : names_of(path)) {
    if (auto value = value_of(path, name)) {
      attributes.extended.emplace_back(std::move(name), std::move(*value));
    }
  }
  return attributes;
}

Status give_attributes(int descriptor, const std::string& path, const FileAttributes& attributes) {
  FileAttributes kept = attributes;
  if (!give_owner_and_group(descriptor, kept)) {
    narrow(kept);
  }
  STRIA_ASSIGN_OR_RETURN(const bool has_lists, give_access_list(descriptor, path, kept));
  if (!has_lists) {
    kept.mode = with_rights(kept.mode, rights_of_group(kept), kept.mode & kRights);
  }
  STRIA_RETURN_IF_ERROR(give_others(descriptor, path, kept));
  return fchmod(descriptor, kept.mode) == 0 ? Status() : Status::from_errno(errno, describe("set the mode of", path));
}

}  // namespace stria::storage
