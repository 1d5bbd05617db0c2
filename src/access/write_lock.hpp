// What keeps concurrent writers from undoing each other.
//
// A window that is read, changed and written back is locked against everybody: ranks of the communicator on this node through
// the memory that they share, other handles and processes through the file system. A write that leaves the bytes between its
// pieces alone needs no more than to stay out of such windows; among the ranks of a node that costs next to nothing, and where
// only the file system could tell, it is done when the hints say that somebody may be sieving. A rank alone in its communicator
// knows of nobody: it sieves while the system tells that no other handle is open, and keeps those waiting that would open one.
#pragma once

#include <memory>

#include "access/request.hpp"
#include "comm/node_locks.hpp"

namespace stria::access {

/// True when windows may be read, changed and written back without being asked for by a hint: every other writer is known to
/// stay out of them.
bool may_sieve_writes(const Context& context);

/// True when it is worth trying: a window is read, changed and written back while nobody else has the file open, and not where
/// somebody has.
bool may_try_to_sieve_writes(const Context& context);

/// Held while it lives.
class WriteLock {
 public:
  WriteLock() = default;
  /// Locks a window against every writer; kUnsupported where that can't be promised.
  static Result<WriteLock> window(Context& context, ByteRange range);
  /// Stays out of locked windows within `range`.
  static Result<WriteLock> plain(Context& context, ByteRange range);

 private:
  NodeLocks::Guard node_;
  std::unique_ptr<storage::RangeLock> file_;
};

}  // namespace stria::access
