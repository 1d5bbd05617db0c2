#include "server/objects/removal_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/check.hpp"
#include "server/objects/part_record.hpp"
#include "server/objects/store_directory.hpp"

namespace stria::server {

namespace {

constexpr int kManagerShift = 31;  // The manager numbers files so: docs/formats/store.md

uint64_t start_of(uint64_t file) {
  return file >> kManagerShift;
}

off_t byte_of(uint64_t file) {
  return static_cast<off_t>((file & ((uint64_t{1} << kManagerShift) - 1)) / 8);
}

unsigned char bit_of(uint64_t file) {
  return static_cast<unsigned char>(1U << file % 8);
}

/// A byte that the file doesn't have is zero.
bool read_byte(int descriptor, off_t at, unsigned char& byte) {
  byte = 0;
  return pread(descriptor, &byte, 1, at) >= 0;
}

bool set_bit(int descriptor, uint64_t file, bool value) {
  unsigned char byte = 0;
  if (!read_byte(descriptor, byte_of(file), byte)) {
    return false;
  }
  byte = static_cast<unsigned char>(value ? byte | bit_of(file) : byte & ~bit_of(file));
  return pwrite(descriptor, &byte, 1, byte_of(file)) == 1;
}

}  // namespace

std::string RemovalRecord::path_of(uint64_t start) const {
  return directory_ + "/" + part_name(start);
}

Status RemovalRecord::make() {
  if (mkdir(directory_.c_str(), 0700) != 0) {
    return errno == EEXIST ? Status() : Status::from_errno(errno, "make '" + directory_ + "'");
  }
  return sync_directory(std::filesystem::path(directory_).parent_path().string());
}

Status RemovalRecord::add(std::span<const uint64_t> files) {
  std::vector<uint64_t> rest(files.begin(), files.end());
  std::sort(rest.begin(), rest.end());
  const std::lock_guard lock(mutex_);
  for (auto first = rest.begin(); first != rest.end();) {
    const uint64_t start = start_of(*first);
    const auto end = std::find_if(first, rest.end(), [start](uint64_t file) { return start_of(file) != start; });
    STRIA_RETURN_IF_ERROR(add_of(start, {first, end}));
    first = end;
  }
  return {};
}

Status RemovalRecord::add_of(uint64_t start, std::span<const uint64_t> files) {
  const std::string path = path_of(start);
  const bool is_new = access(path.c_str(), F_OK) != 0;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bool done = descriptor >= 0;
  for (const uint64_t file : files) {
    STRIA_CHECK(start_of(file) == start, file, start);
    done = done && set_bit(descriptor, file, true);
  }
  done = done && fdatasync(descriptor) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno, "note removals in '" + path + "' on the server");
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return outcome.ok() && is_new ? sync_directory(directory_) : outcome;
}

Status RemovalRecord::forget(uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(const bool is_noted, has(file));
  if (!is_noted) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  const std::string path = path_of(start_of(file));
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool done = descriptor >= 0 && set_bit(descriptor, file, false) && fdatasync(descriptor) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno, "forget a removal in '" + path + "' on the server");
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return outcome;
}

Result<bool> RemovalRecord::has(uint64_t file) const {
  const std::string path = path_of(start_of(file));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) {
    return false;
  }
  unsigned char byte = 0;
  const bool done = descriptor >= 0 && read_byte(descriptor, byte_of(file), byte);
  const Status outcome = done ? Status() : Status::from_errno(errno, "look for removals in '" + path + "' on the server");
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return outcome.ok() ? Result<bool>((byte & bit_of(file)) != 0) : outcome;
}

}  // namespace stria::server
