// An open file in a pool; see rados_driver.hpp.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "storage/driver.hpp"
#include "storage/lists/write_queue.hpp"
#include "storage/rados/header.hpp"
#include "storage/rados/lock_table.hpp"
#include "storage/rados/presence.hpp"
#include "storage/rados/stored_bytes.hpp"

namespace stria::storage {

class RadosFile : public File {
 public:
  /// Opens a file by its number. kNotFound when it has gone; a file without a name has, too, unless
  /// `nameless`.
  struct Opening {
    std::string path;
    bool writable = false;
    bool nameless = false;
  };
  static Result<std::unique_ptr<RadosFile>> open(std::shared_ptr<const Pool> pool, uint64_t number, Opening opening);

  RadosFile(std::shared_ptr<const Pool> pool, uint64_t number, Opening opening, std::unique_ptr<Presence> presence,
            const Header& header);
  RadosFile(const RadosFile&) = delete;
  RadosFile& operator=(const RadosFile&) = delete;
  ~RadosFile() override;

  const std::string& path() const override { return opening_.path; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override;
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  /// Others take the lock of a program that the cluster can't reach for kWatchSeconds. The next
  /// write, sync or close then reports it.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  /// Does nothing: a write returns when all copies of the pool have it on their disks.
  Status sync() override;
  Status close() override;

  /// Locks the file as a whole, as the options ask; kAlreadyExists when another handle holds it.
  Status lock_file(const OpenOptions& options);
  Result<std::unique_ptr<File>> open_again(bool writable) const;

 private:
  friend class RadosRangeLock;
  Status check(const char* operation, bool writes);
  Status named(const Status& status, const char* operation) const;
  std::unique_ptr<PendingWrite> queue(std::function<Status()> job);
  std::unique_ptr<RangeLock> hold(LockTable::Lock lock);
  void unlock(const LockTable::Lock& lock);
  void lose(const Status& reason);

  std::shared_ptr<const Pool> pool_;
  uint64_t number_;
  Opening opening_;
  std::unique_ptr<Presence> presence_;
  LockTable locks_;
  StoredBytes bytes_;
  Capabilities capabilities_;
  bool open_ = true;
  std::optional<LockTable::Lock> file_lock_;
  std::mutex lost_mutex_;
  Status lost_lock_;
  std::unique_ptr<WriteQueue> queue_;  ///< made by the first start_write()
};

}  // namespace stria::storage
