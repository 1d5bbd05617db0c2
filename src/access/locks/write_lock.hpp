// Keeps concurrent writers from undoing each other's writes.
//
// A window that is read, changed and written back is locked against all other writers. Ranks of the
// communicator on this node use the memory that they share. Other handles and processes are locked
// out through the file system, once it is known that every writer among them respects such locks
// (writers.hpp). A write that leaves the bytes between its pieces alone need only stay out of such
// windows. Without a hint, a rank that is alone in its communicator sieves only while the system
// guarantees that no other handle is open, and makes a process that opens one wait. So not even the
// writes of programs that lock nothing are undone.
#pragma once

#include <memory>
#include <mutex>

#include "access/context/context.hpp"

namespace stria::access {

/// True when it is worth trying to sieve a write without a hint; WriteLock::window()
/// may still refuse.
bool may_try_to_sieve_writes(const Context& context);

/// Held while it lives.
class WriteLock : public storage::RangeLock {
 public:
  WriteLock() = default;
  /// Locks a window against every writer; kUnsupported where that can't be promised.
  static Result<WriteLock> window(Context& context, ByteRange range);
  /// Stays out of locked windows within `range`.
  static Result<WriteLock> plain(Context& context, ByteRange range);

 private:
  Status lock_file(Context& context, ByteRange range, storage::LockMode mode);

  NodeLocks::Guard node_;
  std::unique_lock<std::mutex> alone_;
  std::unique_ptr<storage::RangeLock> file_;  // given up first
};

}  // namespace stria::access
