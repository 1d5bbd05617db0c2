// The system calls that the posix driver makes, as a table that tests can replace. The only way to
// see how the driver continues after an interrupted or short call is to make one happen.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

namespace stria::storage {

/// Each function is the system call of its name, with its return value and errno.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual int close(int descriptor);
  virtual ssize_t pwritev(int descriptor, const iovec* pieces, int count, int64_t offset);
  virtual ssize_t preadv(int descriptor, const iovec* pieces, int count, int64_t offset);
  virtual int fstat(int descriptor, struct stat* result);
  virtual int ftruncate(int descriptor, int64_t bytes);
  virtual int fallocate(int descriptor, int mode, int64_t offset, int64_t bytes);
  virtual int fdatasync(int descriptor);
  virtual int fsync(int descriptor);
  virtual int flock(int descriptor, int operation);
  /// Returns the number by which fstatfs() tells the kind of file system; 0 where it fails.
  virtual uint32_t file_system(int descriptor);
  /// fcntl() with one of the commands for locks of ranges.
  virtual int lock_range(int descriptor, int command, struct flock* where);
  /// Calls fcntl(F_SETLEASE).
  virtual int set_lease(int descriptor, int type);
  /// Calls sync_file_range(): begins to write the dirty pages of a range and waits for it.
  virtual int write_back(int descriptor, int64_t offset, int64_t bytes);
  /// True when the byte, or the end of the file, can be read without waiting; false where the file
  /// system doesn't tell.
  virtual bool is_cached(int descriptor, int64_t offset);
  /// Calls posix_fadvise(POSIX_FADV_WILLNEED).
  virtual void read_ahead(int descriptor, int64_t offset, int64_t bytes);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);

  /// Drivers whose transfers don't pass through the calls above (those by a ring) ask this. Returns
  /// the errno with which the transfer shall fail, or 0; may lower `*bytes`, to 1 at least, to make
  /// the transfer short.
  virtual int admit_transfer(int descriptor, bool is_write, int64_t offset, int64_t* bytes);
};

/// Returns the real calls. Never destroyed.
SystemCalls& real_system_calls();

}  // namespace stria::storage
