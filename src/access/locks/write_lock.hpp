// What keeps concurrent writers from undoing each other.
//
// A window that is read, changed and written back is locked against everybody: ranks of the communicator on this node through
// the memory that they share, other handles and processes through the file system, once it is known that every writer among
// them keeps out (writers.hpp). A write that leaves the bytes between its pieces alone needs no more than to stay out of such
// windows. A rank alone in its communicator sieves unasked only while the system tells that no other handle is open, and
// keeps those waiting that would open one: so not even writers that lock nothing are undone.
#pragma once

#include <memory>
#include <mutex>

#include "access/locks/writers.hpp"
#include "access/request/request.hpp"

namespace stria::access {

/// True when it is worth trying to sieve a write unasked; WriteLock::window may still refuse.
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
