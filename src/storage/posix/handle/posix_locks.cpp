// Locks of ranges and leases of a posix file.
#include "storage/posix/handle/posix_locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "storage/messages.hpp"

namespace stria::storage {

namespace {

// Every open handle that writes holds a shared lock on this byte on NFS: while a file is locked,
// the client sends just the bytes that are written and no whole pages (sends_whole_pages()). The
// byte lies behind the end of any file, before those that access/writers/writers.cpp locks.
constexpr ByteRange kWriterByte{(int64_t{1} << 62) - 2, (int64_t{1} << 62) - 1};

struct flock place_of(ByteRange range, short type) {
  STRIA_CHECK(!range.empty(), range.begin, range.end);  // to the kernel, 0 means the rest
  struct flock where = {};                              // its process id must be 0
  where.l_type = type;
  where.l_whence = SEEK_SET;
  where.l_start = range.begin;
  where.l_len = range.size();
  return where;
}

void unlock(const OpenDescriptor& file, ByteRange range) {
  struct flock where = place_of(range, F_UNLCK);
  if (file.is_open()) {
    file.calls().lock_range(file.number(), F_OFD_SETLK, &where);
  }
}

class PosixRangeLock : public RangeLock {
 public:
  PosixRangeLock(const OpenDescriptor& file, ByteRange range) : file_(file), range_(range) {}
  PosixRangeLock(const PosixRangeLock&) = delete;
  PosixRangeLock& operator=(const PosixRangeLock&) = delete;
  ~PosixRangeLock() override { unlock(file_, range_); }

 private:
  const OpenDescriptor& file_;
  ByteRange range_;
};

void disown(const OpenDescriptor& file) {
  if (file.is_open()) {
    file.calls().set_lease(file.number(), F_UNLCK);
  }
}

class PosixOwnership : public RangeLock {
 public:
  explicit PosixOwnership(const OpenDescriptor& file) : file_(file) {}
  PosixOwnership(const PosixOwnership&) = delete;
  PosixOwnership& operator=(const PosixOwnership&) = delete;
  ~PosixOwnership() override { disown(file_); }

 private:
  const OpenDescriptor& file_;
};

bool says_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EINVAL;
}

short type_of(LockMode mode) {
  return mode == LockMode::kShared ? F_RDLCK : F_WRLCK;
}

}  // namespace

Status PosixLocks::lock_error(ByteRange range, int error_number) const {
  Status status = file_.transfer_error("lock", range.begin, range.size(), error_number);
  return says_no_locks(error_number) ? Status(ErrorCode::kUnsupported, status.message(), status.reason()) : status;
}

Result<std::unique_ptr<RangeLock>> PosixLocks::lock(ByteRange range, LockMode mode) const {
  STRIA_ASSIGN_OR_RETURN(auto held, try_lock(range, mode));
  if (held != nullptr) {
    return held;
  }
  struct flock holder = place_of(range, type_of(mode));
  held = std::make_unique<PosixRangeLock>(file_, range);
  if (file_.calls().lock_range(file_.number(), F_OFD_GETLK, &holder) == 0 && holder.l_type != F_UNLCK &&
      holder.l_pid == getpid()) {
    return held;
  }
  int result = 0;
  do {
    struct flock where = place_of(range, type_of(mode));
    result = file_.calls().lock_range(file_.number(), F_OFD_SETLKW, &where);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    return lock_error(range, errno);
  }
  return held;
}

Result<std::unique_ptr<RangeLock>> PosixLocks::try_lock(ByteRange range, LockMode mode) const {
  if (!file_.is_open()) {
    return closed_file("lock", file_.path());
  }
  if (range.empty()) {
    return std::make_unique<RangeLock>();
  }
  // Made first, because a lock without an owner would stay. Giving back a range that was never
  // locked does no harm.
  std::unique_ptr<RangeLock> held = std::make_unique<PosixRangeLock>(file_, range);
  int result = 0;
  do {
    struct flock where = place_of(range, type_of(mode));
    result = file_.calls().lock_range(file_.number(), F_OFD_SETLK, &where);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EAGAIN && errno != EACCES) {
    return lock_error(range, errno);
  }
  if (result != 0) {
    held.reset();
  }
  return held;
}

Status PosixLocks::keep_to_bytes() {
  STRIA_ASSIGN_OR_RETURN(bytes_only_, lock(kWriterByte, LockMode::kShared));
  return {};
}

Result<bool> PosixLocks::is_locked_elsewhere(ByteRange range) const {
  if (!file_.is_open()) {
    return closed_file("lock", file_.path());
  }
  if (range.empty()) {
    return false;
  }
  struct flock holder = place_of(range, F_WRLCK);
  if (file_.calls().lock_range(file_.number(), F_OFD_GETLK, &holder) != 0) {
    return lock_error(range, errno);
  }
  return holder.l_type != F_UNLCK;
}

// The system refuses a write lease on a file that has another handle. Until the lease is given
// back, a process that opens the file waits.
Result<std::unique_ptr<RangeLock>> PosixLocks::own() const {
  if (!file_.is_open()) {
    return closed_file("own", file_.path());
  }
  std::unique_ptr<RangeLock> held = std::make_unique<PosixOwnership>(file_);
  if (file_.calls().set_lease(file_.number(), F_WRLCK) != 0) {
    const Status refused = file_.error("own", errno);
    return Status(ErrorCode::kUnsupported, refused.message(), refused.reason());
  }
  return held;
}

}  // namespace stria::storage
