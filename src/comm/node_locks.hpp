// Locks on byte ranges among the ranks of a node, in memory that they share.
//
// Problem: a data-sieving write reads a window, changes the pieces in it and writes it back; whoever writes between the pieces
// meanwhile is undone. Range locks of the file system cost a system call each way, are not offered everywhere, and plain writes
// would have to take them too. Method: a table of ranges with tickets under a process-shared mutex; who comes earlier goes
// first where ranges overlap, so that nobody starves. Plain writes only count themselves as long as nobody sieves. Cost: an
// atomic addition each way for a plain write; otherwise the mutex twice and a look at every range held or wanted.
#pragma once

#include <cstdint>
#include <memory>

#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria {

class Comm;
class SharedBuffer;

class NodeLocks {
 public:
  /// Collective: yes, over the node at least; the outcome is local.
  static Result<std::unique_ptr<NodeLocks>> create(Comm& comm);
  /// Given up by its destructor.
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

  /// Waits until nobody else holds, or asked earlier for, an overlapping range. A rank holds at most kPerRank guards at once;
  /// more wait for a free place. Must not be held while waiting for another rank in any other way.
  Guard lock(ByteRange range);
  /// The same for a write that leaves what it doesn't write alone: only locked ranges keep it out, not other plain writes.
  Guard enter_plain(ByteRange range);

  static constexpr int kPerRank = 4;

  // A few words that the ranks of the node keep here together, for who works with these locks (access/locks/writers.hpp).

  /// Starts them again: a number for the node's ranks, 0 for the other words. One rank, before the others go on.
  void begin_notes(uint64_t number);
  uint64_t number() const;
  /// A note that is written while everything is locked, and read under any guard.
  uint32_t note() const;
  void set_note(uint32_t note);
  /// Counts a rank that has done its last write.
  void leave();
  /// Whether all ranks of the node have.
  bool have_all_left() const;

 private:
  struct Slot;
  struct State;
  static constexpr int kCounted = -1;

  NodeLocks(std::shared_ptr<SharedBuffer> memory, State* state, int rank);
  Guard take(ByteRange range, bool exclusive);
  void wait_for_change();  ///< for a second at most \pre the mutex is held
  Slot* slots() const;
  int whom_to_wait_for(const Slot& mine) const;
  void release(int slot);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  int rank_;
};

}  // namespace stria
