// Locks of ranges and leases of a posix file.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "storage/posix/handle/open_descriptor.hpp"

namespace stria::storage {

/// What it gives must not outlive the descriptor.
class PosixLocks {
 public:
  explicit PosixLocks(const OpenDescriptor& file) : file_(file) {}
  PosixLocks(const PosixLocks&) = delete;
  PosixLocks& operator=(const PosixLocks&) = delete;

  /// Takes a lock of the open file description, which excludes other handles of this process too.
  /// It doesn't wait for locks that this program holds in the usual way, per process.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) const;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) const;
  Result<bool> is_locked_elsewhere(ByteRange range) const;
  /// Takes a lease.
  Result<std::unique_ptr<RangeLock>> own() const;
  /// Has the node send no byte beside those that are written, as long as the file is open
  /// (sends_whole_pages()).
  Status keep_to_bytes();

 private:
  Status lock_error(ByteRange range, int error_number) const;

  const OpenDescriptor& file_;
  std::unique_ptr<RangeLock> bytes_only_;  ///< keep_to_bytes()'s
};

}  // namespace stria::storage
