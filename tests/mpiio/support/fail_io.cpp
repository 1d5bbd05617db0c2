// Comes before the C library's reads, writes and syncs. It fails or delays those for which
// fail_io.hpp's arm() or delay_one() asked.

#include <dlfcn.h>
#include <limits.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace {

enum { kWrite = 1, kRead = 2, kSync = 3 };

std::atomic<int> armed{0};
std::atomic<int> skipped{0};
std::atomic<int> hits{0};
std::atomic<int> error_number{0};
std::mutex path_mutex;
char path_part[PATH_MAX] = "";

// Tells whether this call is to fail; counts it.
bool fails(int operation, int fd) {
  if (armed.load() != operation) {
    return false;
  }
  char link[64];
  char path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) {
    return false;
  }
  path[length] = '\0';
  {
    const std::lock_guard<std::mutex> lock(path_mutex);
    if (!std::strstr(path, path_part)) {
      return false;
    }
  }
  if (skipped.fetch_sub(1) > 0) {
    return false;
  }
  skipped = 0;
  ++hits;
  if (const int milliseconds = -error_number.load(); milliseconds > 0) {
    armed = 0;
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
    return false;
  }
  errno = error_number;
  return true;
}

// Returns the C library's own function of this name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// A function of the C library that fails when asked to, and else calls the real one.
#define STAND_BEFORE(operation, result, name, parameters, arguments)         \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    static auto* const real = next<result parameters>(#name);                \
    return fails(operation, fd) ? -1 : real arguments;                       \
  }

extern "C" __attribute__((visibility("default"))) void fail_io_arm(const char* path, int operation, int skip, int error) {
  armed = 0;
  {
    const std::lock_guard<std::mutex> lock(path_mutex);
    std::snprintf(path_part, sizeof path_part, "%s", path);
  }
  skipped = skip;
  error_number = error;
  hits = 0;
  armed = operation;
}

extern "C" __attribute__((visibility("default"))) int fail_io_hits() {
  return hits;
}

STAND_BEFORE(kWrite, ssize_t, write, (int fd, const void* data, size_t count), (fd, data, count))
STAND_BEFORE(kWrite, ssize_t, writev, (int fd, const iovec* parts, int count), (fd, parts, count))
STAND_BEFORE(kWrite, ssize_t, pwrite, (int fd, const void* data, size_t count, off_t offset), (fd, data, count, offset))
STAND_BEFORE(kWrite, ssize_t, pwrite64, (int fd, const void* data, size_t count, off64_t offset), (fd, data, count, offset))
STAND_BEFORE(kWrite, ssize_t, pwritev, (int fd, const iovec* parts, int count, off_t offset), (fd, parts, count, offset))
STAND_BEFORE(kWrite, ssize_t, pwritev64, (int fd, const iovec* parts, int count, off64_t offset), (fd, parts, count, offset))
STAND_BEFORE(kWrite, ssize_t, pwritev2, (int fd, const iovec* parts, int count, off_t offset, int flags),
             (fd, parts, count, offset, flags))
STAND_BEFORE(kRead, ssize_t, read, (int fd, void* data, size_t count), (fd, data, count))
STAND_BEFORE(kRead, ssize_t, readv, (int fd, const iovec* parts, int count), (fd, parts, count))
STAND_BEFORE(kRead, ssize_t, pread, (int fd, void* data, size_t count, off_t offset), (fd, data, count, offset))
STAND_BEFORE(kRead, ssize_t, pread64, (int fd, void* data, size_t count, off64_t offset), (fd, data, count, offset))
STAND_BEFORE(kRead, ssize_t, preadv, (int fd, const iovec* parts, int count, off_t offset), (fd, parts, count, offset))
STAND_BEFORE(kRead, ssize_t, preadv64, (int fd, const iovec* parts, int count, off64_t offset), (fd, parts, count, offset))
STAND_BEFORE(kSync, int, fsync, (int fd), (fd))
STAND_BEFORE(kSync, int, fdatasync, (int fd), (fd))
