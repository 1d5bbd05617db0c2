#include "storage/posix/calls/system_calls.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace stria::storage {

int SystemCalls::open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
int SystemCalls::close(int descriptor) {
  return ::close(descriptor);
}
ssize_t SystemCalls::pwritev(int descriptor, const iovec* pieces, int count, int64_t offset) {
  // The kernel takes a single piece faster than a list of one.
  return count == 1 ? ::pwrite(descriptor, pieces->iov_base, pieces->iov_len, offset)
                    : ::pwritev(descriptor, pieces, count, offset);
}
ssize_t SystemCalls::preadv(int descriptor, const iovec* pieces, int count, int64_t offset) {
  return count == 1 ? ::pread(descriptor, pieces->iov_base, pieces->iov_len, offset)
                    : ::preadv(descriptor, pieces, count, offset);
}
int SystemCalls::fstat(int descriptor, struct stat* result) {
  return ::fstat(descriptor, result);
}
int SystemCalls::ftruncate(int descriptor, int64_t bytes) {
  return ::ftruncate(descriptor, bytes);
}
int SystemCalls::fallocate(int descriptor, int mode, int64_t offset, int64_t bytes) {
  return ::fallocate(descriptor, mode, offset, bytes);
}
int SystemCalls::fdatasync(int descriptor) {
  return ::fdatasync(descriptor);
}
int SystemCalls::fsync(int descriptor) {
  return ::fsync(descriptor);
}
int SystemCalls::flock(int descriptor, int operation) {
  return ::flock(descriptor, operation);
}
uint32_t SystemCalls::file_system(int descriptor) {
  struct statfs system = {};
  return ::fstatfs(descriptor, &system) == 0 ? static_cast<uint32_t>(system.f_type) : 0;
}
int SystemCalls::lock_range(int descriptor, int command, struct flock* where) {
  return ::fcntl(descriptor, command, where);
}
int SystemCalls::set_lease(int descriptor, int type) {
  // The usual signal, SIGIO, would end the program.
  if (type != F_UNLCK && ::fcntl(descriptor, F_SETSIG, SIGURG) != 0) {
    return -1;
  }
  return ::fcntl(descriptor, F_SETLEASE, type);
}
int SystemCalls::write_back(int descriptor, int64_t offset, int64_t bytes) {
  return ::sync_file_range(descriptor, offset, bytes,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}
bool SystemCalls::is_cached(int descriptor, int64_t offset) {
  char unused;
  const iovec piece{&unused, 1};
  return ::preadv2(descriptor, &piece, 1, offset, RWF_NOWAIT) >= 0;
}
void SystemCalls::read_ahead(int descriptor, int64_t offset, int64_t bytes) {
  ::posix_fadvise(descriptor, offset, bytes, POSIX_FADV_WILLNEED);
}
int SystemCalls::rename(const char* from, const char* to) {
  return ::rename(from, to);
}
int SystemCalls::unlink(const char* path) {
  return ::unlink(path);
}
int SystemCalls::admit_transfer(int, bool, int64_t, int64_t*) {
  return 0;
}

SystemCalls& real_system_calls() {
  static SystemCalls* const calls = new SystemCalls;
  return *calls;
}

}  // namespace stria::storage
