#include "storage/posix/posix_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "storage/messages.hpp"
#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/file_system/remote_names.hpp"

namespace stria::storage {

namespace {

WriteQueue& made(std::unique_ptr<WriteQueue>& queue) {
  if (queue == nullptr) {
    queue = std::make_unique<WriteQueue>();
  }
  return *queue;
}

}  // namespace

PosixFile::PosixFile(SystemCalls& calls, const std::string& path, int descriptor, const OpenOptions& options)
    : opened_(calls, path, descriptor, options) {}

PosixFile::~PosixFile() {
  if (opened_.is_open()) {
    (void)PosixFile::close();  // its locks are gone with it
  }
}

std::unique_ptr<PendingWrite> PosixFile::start_write(std::span<const WriteSegment> segments) {
  if (!opened_.is_open()) {
    return File::start_write(segments);
  }
  // The caller keeps the data but not necessarily the list.
  return made(queue_).start(
      [this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return transfers_.write(list); });
}

std::unique_ptr<PendingWrite> PosixFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  if (!opened_.is_open()) {
    return File::start_write(segments);
  }
  return made(queue_).start([this, take, list = std::vector<WriteSegment>(segments.begin(), segments.end())]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lock, take());
    return transfers_.write(list);
  });
}

Result<Identity> PosixFile::identity() {
  if (!opened_.is_open()) {
    return closed_file("identity", path());
  }
  struct stat details = {};
  if (opened_.calls().fstat(opened_.number(), &details) != 0) {
    return opened_.error("identity", errno);
  }
  return identity_of(details);
}

// The ends tell whether the range is in the cache: to ask for all of its pages would take time.
void PosixFile::will_read(ByteRange range) {
  if (!opened_.is_open() || opened_.is_direct() || range.empty()) {
    return;
  }
  if (!opened_.calls().is_cached(opened_.number(), range.begin) ||
      !opened_.calls().is_cached(opened_.number(), range.end - 1)) {
    opened_.calls().read_ahead(opened_.number(), range.begin, range.size());
  }
}

// Such file systems promise to look at the server when a file is opened. Opening also waits for
// pages on their way, which posix_fadvise would skip.
Status PosixFile::refresh(ByteRange range) {
  if (!opened_.is_open()) {
    return closed_file("refresh", path());
  }
  if (range.begin < range.end) {
    const int again = opened_.calls().open(opened_.own_path().c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (again < 0) {
      return opened_.error("refresh", errno);
    }
    opened_.calls().close(again);
  }
  ask_for_size(opened_.number());
  return {};
}

Status PosixFile::hand_over(ByteRange range) {
  if (!opened_.is_open()) {
    return closed_file("write", path());
  }
  if (range.begin >= range.end || opened_.calls().write_back(opened_.number(), range.begin, range.size()) == 0) {
    return {};
  }
  return opened_.transfer_error("write", range.begin, range.size(), errno);
}

Status PosixFile::resize(int64_t bytes) {
  if (!opened_.is_open()) {
    return closed_file("resize", path());
  }
  int result = 0;
  do {
    result = opened_.calls().ftruncate(opened_.number(), bytes);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : opened_.transfer_error("resize", bytes, 0, errno);
}

Status PosixFile::preallocate(int64_t bytes) {
  if (!opened_.is_open()) {
    return closed_file("preallocate", path());
  }
  if (bytes == 0) {
    return {};
  }
  int result = 0;
  do {
    result = opened_.calls().fallocate(opened_.number(), 0, 0, bytes);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : opened_.transfer_error("preallocate", 0, bytes, errno);
}

Status PosixFile::sync() {
  if (!opened_.is_open()) {
    return closed_file("sync", path());
  }
  int result = 0;
  do {
    result = opened_.calls().fdatasync(opened_.number());
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : opened_.error("sync", errno);
}

Status PosixFile::close() {
  if (!opened_.is_open()) {
    return closed_file("close", path());
  }
  queue_.reset();
  transfers_.finish();
  return opened_.close();
}

}  // namespace stria::storage
