// One file in memory and a handle on it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/held.hpp"
#include "storage/driver.hpp"
#include "storage/memory/sparse_bytes.hpp"

namespace stria::storage {

/// Holds what all handles of a file share. `mutex` guards all of it.
struct MemoryInode {
  std::mutex mutex;
  SparseBytes content;
  SparseBytes durable_content;
  bool locked = false;
  struct LockedRange {
    ByteRange range;
    LockMode mode;
    const void* holder;
  };
  std::list<LockedRange> locked_ranges;
  std::condition_variable range_unlocked;
  int64_t changed_ns = now_ns();
  bool lost = false;  ///< in a crash: handles from before it are dead

  /// The time counts since 1970.
  static int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }
  Identity identity() const { return {0, reinterpret_cast<uintptr_t>(this)}; }
};

class MemoryFile : public File {
 public:
  MemoryFile(std::string path, std::shared_ptr<MemoryInode> inode, bool writable, bool holds_lock, bool track_unsynced);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() override;

  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override;
  /// Returns another handle on the same file; an error when this one is closed.
  Result<std::unique_ptr<File>> again(bool writable) const;
  Status write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

 private:
  // `held` is the lock of the inode's mutex.
  /// An error when the handle is closed or lost, or is read-only and `writes` is true. \pre
  /// `held` is a lock of the inode's mutex
  Status check(const Held& held, const char* operation, bool writes) const;
  bool is_free(const Held& held, ByteRange range, LockMode mode) const;
  std::unique_ptr<RangeLock> note_lock(const Held& held, ByteRange range, LockMode mode);
  void release();

  std::string path_;
  std::shared_ptr<MemoryInode> inode_;
  bool writable_;
  bool holds_lock_;
  bool track_unsynced_;
  bool open_ = true;
  Capabilities capabilities_;
};

}  // namespace stria::storage
