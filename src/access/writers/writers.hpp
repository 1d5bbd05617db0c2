// Describes how the ranks that write a file together on a node get on with its other writers: other
// open files, programs and nodes.
//
// Problem: a window that is read, changed and written back undoes other writes in it meanwhile, so
// that every other writer must keep out. A lock of the file system for each small write costs as
// much as the write. And no writer can be told of one that comes later, or asked whether it sieves.
// Method: a writer shows its standing by a shared lock on a byte far behind the file's end, a byte
// of its own in the region of this standing. It then looks whether other writers hold locks in a
// region that does not go with it:
//
//                 writes between windows   sieves    not beside
//   free          without a lock           no        joint siever, sole siever
//   locking       under a lock             no        -
//   joint siever  under a lock             locked    free, sole siever
//   sole siever   without a lock           locked    free, joint siever, sole siever
//
// Where two come at once, both may step back, which is also right. The ranks of one open file on
// one node use NodeLocks among themselves, so that they have one common standing, in the memory
// that they share. The first write takes it, and the first that would sieve changes it.
// Cost: some ten system calls per open file and node; an atomic addition per write, and two system
// calls where a lock is needed. Others that lock what they write (MPI-IO's atomic mode in any
// library) are kept out too.
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

/// Plays this rank's part. Thread-safe.
class Writers {
 public:
  /// `locks` are those of the ranks that have the file open together, and of no other file.
  explicit Writers(NodeLocks& locks) : locks_(locks) {}

  /// Enters a write that changes no bytes but its own. `must_lock` tells whether it must also hold
  /// a shared lock of the file on its range. `wish`: kFree or, where sieving is asked for and locks
  /// are worth it, kJointSiever.
  NodeLocks::Guard enter_plain(storage::File& file, ByteRange range, Standing wish, bool& must_lock);
  /// Does the same for a write that only needs to be counted, as most do. Otherwise false, and
  /// nothing is entered.
  bool enter_freely(ByteRange range, NodeLocks::Guard& guard);
  /// Enters a window that is to be sieved; it also needs an exclusive lock of the file. False,
  /// and nothing is entered, where other writers could not be kept out. `wish`: kJointSiever
  /// or kSoleSiever.
  bool enter_window(storage::File& file, ByteRange range, Standing wish, NodeLocks::Guard& guard);
  /// Tells whether this rank has asked for a window in vain: it writes pieces that it had rather
  /// sieved.
  bool has_been_refused_a_window() const { return refused_sieving_.load(std::memory_order_relaxed) > 0; }
  /// Guards locks of ranges, one at a time: those of one handle must not overlap.
  std::mutex& lock_mutex() { return lock_mutex_; }

  /// Tells the others that this rank writes no more. Local.
  void leave() { locks_.leave(); }
  /// Tells whether the standing may be given up. Other ranks may still rely on what this rank
  /// holds for all.
  bool may_retire() const { return held_.empty() || locks_.have_all_left(); }
  /// Gives up what this rank holds. To be called before the file is closed.
  void retire() { held_.clear(); }

 private:
  Standing standing() const { return static_cast<Standing>(locks_.note()); }
  bool is_due(std::atomic<int>& refused, int every);
  void take_standing(storage::File& file, Standing wish);
  bool announce(storage::File& file, Standing wish);
  void give_up_freedom();

  struct Held {
    Standing standing;
    std::unique_ptr<storage::RangeLock> lock;
  };
  NodeLocks& locks_;
  std::vector<Held> held_;
  std::atomic<bool> holds_free_{false};                    ///< among held_
  std::atomic<int> refused_free_{0}, refused_sieving_{0};  ///< how often this rank has gone without
  std::mutex lock_mutex_;
};

}  // namespace stria::access
