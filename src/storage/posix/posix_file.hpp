// A file of the operating system: what it is to the layers above. Its parts are the open
// descriptor, the transfers (posix_transfers.hpp), the locks (posix_locks.hpp), and a thread for
// writes that go on while the caller does something else (write_queue.hpp).
#pragma once

#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/lists/write_queue.hpp"
#include "storage/posix/handle/open_descriptor.hpp"
#include "storage/posix/handle/posix_locks.hpp"
#include "storage/posix/handle/posix_transfers.hpp"

namespace stria::storage {

class PosixFile : public File {
 public:
  /// Opens as asked. A lock is taken before the file is truncated.
  static Result<std::unique_ptr<PosixFile>> open(SystemCalls& calls, const std::string& path, const OpenOptions& options);
  /// Opens the file that `other` has open, whatever its name means by now.
  static Result<std::unique_ptr<PosixFile>> open_again(SystemCalls& calls, const File& other, const OpenOptions& options);

  PosixFile(SystemCalls& calls, const std::string& path, int descriptor, const OpenOptions& options);
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override;

  const std::string& path() const override { return opened_.path(); }
  const Capabilities& capabilities() const override { return opened_.capabilities(); }
  Result<Identity> identity() override;
  Status write(std::span<const WriteSegment> segments) override { return transfers_.write(segments); }
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override { return transfers_.read(segments); }
  /// Has the system read ahead what isn't in its cache yet.
  void will_read(ByteRange range) override;
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return locks_.lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override { return locks_.try_lock(range, mode); }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return locks_.is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override { return locks_.own(); }
  Status refresh(ByteRange range) override;
  Status hand_over(ByteRange range) override;
  Result<int64_t> size() override { return opened_.size(); }
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

  const OpenDescriptor& opened() const { return opened_; }
  PosixLocks& locks() { return locks_; }

 private:
  OpenDescriptor opened_;
  PosixTransfers transfers_{opened_};
  PosixLocks locks_{opened_};
  std::unique_ptr<WriteQueue> queue_;  ///< made by the first start_write()
};

}  // namespace stria::storage
