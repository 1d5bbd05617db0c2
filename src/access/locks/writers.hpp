// How the ranks that write a file together on a node stand to its other writers: other open files, programs and nodes.
//
// Problem: a window that is read, changed and written back undoes whoever writes in it meanwhile, so that every writer must
// keep out; and a lock of the file system for each small write costs as much as the write. Nobody can be told of a writer that
// comes later, nor asked whether it sieves. Method: who writes says so by a shared lock on a byte far behind the file's end,
// one of its own in the region of its standing, and then looks whether others stand in a region that does not go with it:
//
//                 writes between windows   sieves    not beside
//   free          without a lock           no        joint siever, sole siever
//   locking       under a lock             no        -
//   joint siever  under a lock             locked    free, sole siever
//   sole siever   without a lock           locked    free, joint siever, sole siever
//
// Where two come at once both may step back, which is right as well. Among the ranks of one open file on one node NodeLocks do,
// so that these have one standing together, in the memory that they share: it is taken by the first write and changed by the
// first that would sieve. Cost: some ten system calls an open file and node; an atomic addition a write, two system calls
// where a lock is needed. Others that lock what they write (MPI-IO's atomic mode in any library) are kept out as well.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/byte_range.hpp"
#include "comm/node_locks.hpp"
#include "storage/driver.hpp"

namespace stria::access {

enum class Standing : uint32_t { kNone, kFree, kLocking, kJointSiever, kSoleSiever };

/// This rank's part. Thread-safe.
class Writers {
 public:
  /// `locks` are those of the ranks that have the file open together, and of no other file.
  explicit Writers(NodeLocks& locks) : locks_(locks) {}

  /// Enters a write that leaves what it doesn't write alone; `must_lock` tells whether it has to hold a shared lock of the file
  /// on its range as well. `wish`: kFree or, where sieving is asked for and locks are worth it, kJointSiever.
  NodeLocks::Guard enter_plain(storage::File& file, ByteRange range, Standing wish, bool& must_lock);
  /// The same where no more is needed than to be counted, as for most writes; else false, and nothing entered.
  bool enter_freely(ByteRange range, NodeLocks::Guard& guard);
  /// Enters a window that is to be sieved, which needs an exclusive lock of the file on it besides. False, and nothing entered,
  /// where other writers could not be kept out. `wish`: kJointSiever or kSoleSiever.
  bool enter_window(storage::File& file, ByteRange range, Standing wish, NodeLocks::Guard& guard);
  /// One lock of a range at a time: those of one handle must not overlap.
  std::mutex& lock_mutex() { return lock_mutex_; }

  /// Tells that this rank writes no more. Local.
  void leave() { locks_.leave(); }
  /// Whether the standing may be given up: other ranks may still rely on what this one holds for all.
  bool may_retire() const { return held_.empty() || locks_.have_all_left(); }
  /// Gives up what this rank holds. To be called before the file is closed.
  void retire() { held_.clear(); }

 private:
  Standing standing() const { return static_cast<Standing>(locks_.note()); }
  bool is_due(std::atomic<int>& refused, int every);
  void settle(storage::File& file, Standing wish);
  bool announce(storage::File& file, Standing wish);

  NodeLocks& locks_;
  std::vector<std::unique_ptr<storage::RangeLock>> held_;
  std::atomic<int> refused_free_{0}, refused_sieving_{0};  ///< times that this rank has done without
  std::mutex lock_mutex_;
};

}  // namespace stria::access
