// An open file of a store; see striped_driver.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/lists/write_queue.hpp"
#include "storage/striped/slot_servers.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_locks.hpp"
#include "stria/datatype.hpp"

namespace stria::storage {

class StripedFile : public File {
 public:
  struct Opening {
    uint64_t handle = 0;
    bool writable = false;
  };
  StripedFile(std::shared_ptr<Store> store, std::string path, const wire::Opened& opened, const Opening& opening);
  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;
  ~StripedFile() override;

  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override;
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  Status write_type(const TypeWindow& region, const std::byte* data) override;
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data) override;
  /// See striped_locks.hpp. If a lock is lost before it is given up, the next write, sync or close
  /// reports it. A note is taken again before the next write, and only where others have come
  /// meanwhile does that write fail.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

  /// Opens another handle on the same file.
  Result<std::unique_ptr<File>> open_again(bool writable) const;

 private:
  Status check(const char* operation, bool writes);
  Status resize_slots(wire::Kind kind, int64_t bytes);
  std::unique_ptr<PendingWrite> queue(std::function<Status()> job);
  /// Takes a lock; null when it didn't become free within that time.
  Result<std::unique_ptr<RangeLock>> lock_within(ByteRange range, LockMode mode, uint32_t wait_ms);

  std::shared_ptr<Store> store_;
  std::string path_;
  Opening opening_;
  SlotServers servers_;
  StripedLocks locks_;
  Capabilities capabilities_;
  bool open_ = true;
  std::unique_ptr<WriteQueue> queue_;  ///< made by the first start_write()
};

}  // namespace stria::storage
