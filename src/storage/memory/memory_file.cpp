#include "storage/memory/memory_file.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "storage/messages.hpp"

namespace stria::storage {

MemoryFile::MemoryFile(std::string path, std::shared_ptr<MemoryInode> inode, bool writable, bool holds_lock,
                       bool track_unsynced)
    : path_(std::move(path)),
      inode_(std::move(inode)),
      writable_(writable),
      holds_lock_(holds_lock),
      track_unsynced_(track_unsynced) {
  capabilities_.native_list = true;
}

MemoryFile::~MemoryFile() {
  release();
}

void MemoryFile::release() {
  const std::lock_guard lock(inode_->mutex);
  if (open_ && holds_lock_) {
    inode_->locked = false;
  }
  open_ = false;
}

Status MemoryFile::check(const Held& held, const char* operation, bool writes) const {
  STRIA_ASSERT(holds(held, inode_->mutex), operation);
  if (!open_) {
    return closed_file(operation, path_);
  }
  if (inode_->lost) {
    return Status::from_errno(EIO, describe(operation, path_));
  }
  if (writes && !writable_) {
    return Status::from_errno(EBADF, describe(operation, path_));
  }
  return {};
}

Result<Identity> MemoryFile::identity() {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "identity", false));
  return inode_->identity();
}

Result<std::unique_ptr<File>> MemoryFile::again(bool writable) const {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "open", false));
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(path_, inode_, writable, false, track_unsynced_));
}

Status MemoryFile::write(std::span<const WriteSegment> segments) {
  STRIA_RETURN_IF_ERROR(check_segments("write", path_, segments));
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "write", true));
  inode_->changed_ns = MemoryInode::now_ns();
  for (const WriteSegment& segment : segments) {
    try {
      inode_->content.write(segment.offset, segment.data, segment.bytes);
    } catch (const std::bad_alloc&) {
      return Status::from_errno(ENOSPC, describe("write", path_, segment.offset, segment.bytes));
    }
  }
  return {};
}

Result<int64_t> MemoryFile::read(std::span<const ReadSegment> segments) {
  STRIA_RETURN_IF_ERROR(check_segments("read", path_, segments));
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "read", false));
  int64_t total = 0;
  for (const ReadSegment& segment : segments) {
    total += inode_->content.read(segment.offset, segment.data, segment.bytes);
  }
  return total;
}

namespace {

class MemoryRangeLock : public RangeLock {
 public:
  using Place = std::list<MemoryInode::LockedRange>::iterator;
  MemoryRangeLock(std::shared_ptr<MemoryInode> inode, Place place) : inode_(std::move(inode)), place_(place) {}
  MemoryRangeLock(const MemoryRangeLock&) = delete;
  MemoryRangeLock& operator=(const MemoryRangeLock&) = delete;
  ~MemoryRangeLock() override {
    const std::lock_guard lock(inode_->mutex);
    inode_->locked_ranges.erase(place_);
    inode_->range_unlocked.notify_all();
  }

 private:
  std::shared_ptr<MemoryInode> inode_;
  Place place_;
};

}  // namespace

bool MemoryFile::is_free(const Held& held, ByteRange range, LockMode mode) const {
  STRIA_ASSERT(holds(held, inode_->mutex), path_);
  return std::none_of(inode_->locked_ranges.begin(), inode_->locked_ranges.end(), [&](const auto& other) {
    const bool shared = mode == LockMode::kShared && other.mode == LockMode::kShared;
    return !shared && !intersect(range, other.range).empty();
  });
}

std::unique_ptr<RangeLock> MemoryFile::note_lock(const Held& held, ByteRange range, LockMode mode) {
  STRIA_ASSERT(is_free(held, range, mode), path_, range.begin, range.end);
  // Everything that can fail happens before the range counts as locked.
  std::list<MemoryInode::LockedRange> entry;
  entry.push_front({range, mode, this});
  auto lock = std::make_unique<MemoryRangeLock>(inode_, entry.begin());
  inode_->locked_ranges.splice(inode_->locked_ranges.begin(), entry);
  return lock;
}

Result<std::unique_ptr<RangeLock>> MemoryFile::lock(ByteRange range, LockMode mode) {
  Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "lock", mode == LockMode::kExclusive));
  inode_->range_unlocked.wait(lock, [&] { return is_free(lock, range, mode); });
  return note_lock(lock, range, mode);
}

Result<std::unique_ptr<RangeLock>> MemoryFile::try_lock(ByteRange range, LockMode mode) {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "lock", mode == LockMode::kExclusive));
  return is_free(lock, range, mode) ? note_lock(lock, range, mode) : nullptr;
}

Result<bool> MemoryFile::is_locked_elsewhere(ByteRange range) {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "lock", false));
  return std::any_of(inode_->locked_ranges.begin(), inode_->locked_ranges.end(),
                     [&](const auto& other) { return other.holder != this && !intersect(range, other.range).empty(); });
}

Result<int64_t> MemoryFile::size() {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "size", false));
  return inode_->content.size();
}

Status MemoryFile::resize(int64_t bytes) {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "resize", true));
  if (bytes < 0) {
    return Status::from_errno(EINVAL, describe("resize", path_, bytes, 0));
  }
  inode_->changed_ns = MemoryInode::now_ns();
  inode_->content.resize(bytes);
  return {};
}

Status MemoryFile::preallocate(int64_t bytes) {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "preallocate", true));
  if (bytes < 0) {
    return Status::from_errno(EINVAL, describe("preallocate", path_, 0, bytes));
  }
  if (bytes > inode_->content.size()) {
    inode_->content.resize(bytes);
  }
  return {};
}

Status MemoryFile::sync() {
  const Held lock(inode_->mutex);
  STRIA_RETURN_IF_ERROR(check(lock, "sync", false));
  if (track_unsynced_) {
    inode_->durable_content = inode_->content;
  }
  return {};
}

Status MemoryFile::close() {
  Status outcome;
  {
    const Held lock(inode_->mutex);
    outcome = check(lock, "close", false);
  }
  release();
  return outcome;
}

}  // namespace stria::storage
