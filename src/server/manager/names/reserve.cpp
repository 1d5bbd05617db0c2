#include "server/manager/names/reserve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>

namespace stria::server {

namespace {

constexpr int64_t kBytes = int64_t{4} << 20;
constexpr int64_t kMargin = int64_t{1} << 20;

bool has_room(int descriptor) {
  struct statvfs disk = {};
  return fstatvfs(descriptor, &disk) == 0 &&
         static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize) >= kBytes + kMargin;
}

}  // namespace

void Reserve::keep() {
  if (held_) {
    return;
  }
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return;
  }
  struct stat details = {};
  const bool is_there = fstat(descriptor, &details) == 0 && details.st_size >= kBytes;
  held_ = is_there || (has_room(descriptor) && posix_fallocate(descriptor, 0, kBytes) == 0);
  ::close(descriptor);
  if (!held_) {
    unlink(path_.c_str());
  }
}

bool Reserve::give_up() {
  held_ = false;
  return unlink(path_.c_str()) == 0;
}

}  // namespace stria::server
