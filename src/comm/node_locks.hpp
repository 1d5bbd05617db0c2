// Locks on byte ranges among the ranks of a node, in memory that they share.
//
// Problem: a data-sieving write reads a window, changes the pieces in it and writes it back. It
// undoes what another rank writes between the pieces meanwhile. Range locks of the file system cost
// a system call each way, don't exist everywhere, and plain writes would have to take them too.
// Method: a table of ranges with tickets, under a mutex that processes share. Where ranges overlap,
// the earlier ticket goes first, so that no rank starves. Plain writes only count themselves as
// long as no rank sieves.
// Cost: two atomic additions for a plain write; otherwise the mutex is taken twice, with a look at
// every range that is held or wanted.
#pragma once

#include <cstdint>
#include <memory>

#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria {

class Comm;
class MutexLock;
class SharedBuffer;

class NodeLocks {
 public:
  /// Collective: yes, over the node at least; the outcome is local.
  static Result<std::unique_ptr<NodeLocks>> create(Comm& comm);
  /// The destructor gives the lock up.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&& other) noexcept;
    ~Guard();

   private:
    friend class NodeLocks;
    Guard(NodeLocks* locks, int slot) : locks_(locks), slot_(slot) {}
    NodeLocks* locks_ = nullptr;
    int slot_ = 0;  ///< kCounted: a plain write that only counts itself
  };

  /// Waits until no other rank holds an overlapping range or has asked for one earlier. A rank
  /// holds at most kPerRank guards at once; further calls wait for a free place. Don't hold a guard
  /// while waiting for another rank in any other way.
  Guard lock(ByteRange range);
  /// Returns the same for a plain write, which changes no bytes but its own: it waits for locked
  /// ranges, not for other plain writes.
  Guard enter_plain(ByteRange range);

  static constexpr int kPerRank = 4;

  // A few words that the ranks of the node share, for the users of these locks
  // (access/writers/writers.hpp).

  /// Starts the words anew: `number` is that of the node's ranks, the others become 0. One rank
  /// calls this before the others go on.
  void begin_notes(uint64_t number);
  uint64_t number() const;
  /// Returns a note. A rank writes it while it has locked everything, and reads it under any guard.
  uint32_t note() const;
  void set_note(uint32_t note);
  /// Counts this rank as one that has done its last write.
  void leave();
  /// Tells whether all ranks of the node have called leave().
  bool have_all_left() const;

 private:
  struct Slot;
  struct State;
  static constexpr int kCounted = -1;

  NodeLocks(std::shared_ptr<SharedBuffer> memory, State* state, int rank);
  Guard take(ByteRange range, bool exclusive);
  void wait_for_change(const MutexLock& held);  ///< for at most a second. \pre of the mutex
  Slot* slots() const;
  int whom_to_wait_for(const Slot& mine) const;
  void release(int slot);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  int rank_;
};

}  // namespace stria
