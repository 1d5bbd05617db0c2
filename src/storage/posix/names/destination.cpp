#include "storage/posix/names/destination.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/messages.hpp"
#include "storage/path.hpp"
#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/names/attributes.hpp"

namespace stria::storage {

namespace {

constexpr const char* kReplace = "replace";
constexpr int kMostLinks = 40;  // the kernel's limit

/// Refuses a link whose owner could harm the one who follows it: the rule of the kernel's
/// fs.protected_symlinks, and the same in directories that all may write to without the sticky bit.
Status check_link(const std::string& path, const struct stat& link) {
  struct stat directory = {};
  if (stat(directory_of(path).c_str(), &directory) != 0) {
    return Status::from_errno(errno, describe(kReplace, path));
  }
  const bool is_open_to_all = (directory.st_mode & S_IWOTH) != 0;
  const bool is_trusted = link.st_uid == geteuid() || link.st_uid == directory.st_uid;
  return !is_open_to_all || is_trusted
             ? Status()
             : Status(ErrorCode::kPermissionDenied, describe(kReplace, path) +
                                                        ": it is another user's link, in a directory that all may write to: "
                                                        "remove it, or write to another directory");
}

std::string read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return target.empty() || target.front() == '/' ? target : directory_of(path) + "/" + target;
}

/// Returns the first name that is no link. `check` is asked about each link.
template <typename Check>
Result<std::string> follow(const std::string& path, const Check& check) {
  std::string name = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat found = {};
    if (lstat(name.c_str(), &found) != 0) {
      return errno == ENOENT ? Result<std::string>(name) : Status::from_errno(errno, describe(kReplace, path));
    }
    if (!S_ISLNK(found.st_mode)) {
      return name;
    }
    STRIA_RETURN_IF_ERROR(check(name, found));
    std::string target = read_link(name);
    if (target.empty()) {
      return Status::from_errno(errno, describe(kReplace, path));
    }
    name = std::move(target);
  }
  return Status(ErrorCode::kInvalidArgument, describe(kReplace, path) + ": its links lead in a circle");
}

Status check_kind(const std::string& path, const struct stat& found) {
  const mode_t mode = found.st_mode;
  const char* const kind = S_ISDIR(mode) ? "directory" : S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
  return S_ISREG(mode) ? Status()
                       : Status(ErrorCode::kInvalidArgument,
                                describe(kReplace, path) + ": it is a " + kind + ", not a file, and stays as it is");
}

/// Tells whether the name, without a link, means that file.
bool names(const std::string& path, const struct stat& file) {
  struct stat named = {};
  return lstat(path.c_str(), &named) == 0 && identity_of(named) == identity_of(file);
}

}  // namespace

std::string followed_links(const std::string& path) {
  struct stat named = {};
  if (lstat(path.c_str(), &named) != 0 || !S_ISLNK(named.st_mode)) {
    return path;
  }
  struct stat meant = {};
  const bool is_there = stat(path.c_str(), &meant) == 0;
  const auto name = follow(path, [](const std::string&, const struct stat&) { return Status(); });
  // A link below /proc may mean an open file that has no name.
  return name.ok() && (!is_there || names(*name, meant)) ? *name : path;
}

Result<Destination> destination_of(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? Result<Destination>(Destination{.path = path})
                           : Status::from_errno(errno, describe(kReplace, path));
  }
  std::string name = path;
  if (S_ISLNK(found.st_mode)) {
    const bool is_there = stat(path.c_str(), &found) == 0;
    if (!is_there && errno != ENOENT && errno != ELOOP) {
      return Status::from_errno(errno, describe(kReplace, path));
    }
    STRIA_RETURN_IF_ERROR(is_there ? check_kind(path, found) : Status());
    STRIA_ASSIGN_OR_RETURN(name, follow(path, check_link));
    if (!is_there) {
      return Destination{.path = name};
    }
    if (!names(name, found)) {
      return Status(ErrorCode::kInvalidArgument, describe(kReplace, path) + ": it leads to a file without a name");
    }
  }
  STRIA_RETURN_IF_ERROR(check_kind(path, found));
  if (faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0) {
    return Status::from_errno(errno, describe(kReplace, path)).with_context("a file that can't be written to stays as it is");
  }
  return Destination{.path = name, .replaced = attributes_of(name, found)};
}

}  // namespace stria::storage
