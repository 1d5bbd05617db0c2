#include "storage/posix/posix_driver.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "storage/messages.hpp"
#include "storage/path.hpp"
#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/names/attributes.hpp"
#include "storage/posix/names/destination.hpp"
#include "storage/posix/posix_file.hpp"

namespace stria::storage {

Result<std::unique_ptr<File>> PosixDriver::open(const std::string& path, const OpenOptions& options) {
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<File> file, PosixFile::open(calls_, path, options));
  return file;
}

Result<std::unique_ptr<File>> PosixDriver::open_again(const File& file, const OpenOptions& options) {
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<File> again, PosixFile::open_again(calls_, file, options));
  return again;
}

Result<Identity> PosixDriver::identity(const std::string& path) {
  struct stat details = {};
  if (::stat(path.c_str(), &details) != 0) {
    return Status::from_errno(errno, describe("look up", path));
  }
  return identity_of(details);
}

Result<NameInfo> PosixDriver::name_info(const std::string& path) {
  struct stat details = {};
  if (::lstat(path.c_str(), &details) != 0) {
    return Status::from_errno(errno, describe("look up", path));
  }
  return info_of(details);
}

std::string PosixDriver::follow_links(const std::string& path) {
  return followed_links(path);
}

Result<Destination> PosixDriver::find_destination(const std::string& path) {
  return destination_of(path);
}

Status PosixDriver::set_attributes(File& file, const FileAttributes& attributes) {
  const auto* const open = dynamic_cast<const PosixFile*>(&file.plain());
  if (open == nullptr || !open->opened().is_open()) {
    return closed_file("set attributes of", file.path());
  }
  return give_attributes(open->opened().number(), file.path(), attributes);
}

Status PosixDriver::rename(const std::string& from, const std::string& to) {
  if (calls_.rename(from.c_str(), to.c_str()) == 0) {
    return {};
  }
  return Status::from_errno(errno, describe("rename", from) + " to '" + to + "'");
}

Status PosixDriver::remove(const std::string& path) {
  return calls_.unlink(path.c_str()) == 0 ? Status() : Status::from_errno(errno, describe("remove", path));
}

Status PosixDriver::make_link(const std::string& target, const std::string& path) {
  return ::symlink(target.c_str(), path.c_str()) == 0 ? Status() : Status::from_errno(errno, describe("make a link", path));
}

Result<bool> PosixDriver::exists(const std::string& path) {
  struct stat details = {};
  if (::stat(path.c_str(), &details) == 0) {
    return true;
  }
  if (errno == ENOENT || errno == ENOTDIR) {
    return false;
  }
  return Status::from_errno(errno, describe("look up", path));
}

Status PosixDriver::sync_directory(const std::string& path) {
  const std::string directory = directory_of(path);
  const int descriptor = calls_.open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) {
    return Status::from_errno(errno, describe("sync directory", directory));
  }
  int result = 0;
  do {
    result = calls_.fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  const int error_number = errno;
  calls_.close(descriptor);
  // File systems with nothing to sync in a directory return EINVAL.
  if (result != 0 && error_number != EINVAL) {
    return Status::from_errno(error_number, describe("sync directory", directory));
  }
  return {};
}

Result<std::vector<std::string>> PosixDriver::list_directory(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
  if (stream == nullptr) {
    return Status::from_errno(errno, describe("list", directory));
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names.push_back(std::move(name));
    }
  }
  if (errno != 0) {
    return Status::from_errno(errno, describe("list", directory));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stria::storage
