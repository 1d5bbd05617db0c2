// One file in memory and a handle on it.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "storage/driver.hpp"
#include "storage/memory/sparse_bytes.hpp"

namespace stria::storage {

/// What all handles of a file share; everything under `mutex`.
struct MemoryInode {
  std::mutex mutex;
  SparseBytes content;
  SparseBytes durable_content;
  bool locked = false;
  std::list<std::pair<ByteRange, LockMode>> locked_ranges;
  std::condition_variable range_unlocked;
  bool lost = false;  ///< by a crash: the handles of before are dead
};

class MemoryFile : public File {
 public:
  MemoryFile(std::string path, std::shared_ptr<MemoryInode> inode, bool writable, bool holds_lock, bool track_unsynced);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() override;

  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

 private:
  /// Error when the handle is closed, lost or (for writing) read-only. \pre inode's mutex held
  Status check(const char* operation, bool writes) const;
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
