// Takes turns among the ranks of a node, first come first served.
//
// Problem: the kernel lets one process at a time write to a file's cached pages. Ranks that pack
// and write at their own pace fall into step: all spin on the inode's lock, then all pack while no
// rank writes. Chance decides which rank waits longest.
// Method: a ticket lock in memory that the node shares. A rank holds it while it writes a batch, so
// that its writing overlaps with the packing of others. Waiting ranks sleep on a futex and are
// woken one at a time. Waking a rank takes as long as writing a hundred kilobytes. So the holder
// may announce that it is about to end; the next in line then wakes early and spins for the rest. A
// rank that hands on the turn yields its processor once: where ranks outnumber processors, the next
// rank would otherwise wait until another has packed.
// Cost: no system call when no rank waits, three when one does.
//
// The same memory tells the other ranks when one has failed, so that they stop within a batch and
// not at the end of their data.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "comm/failure_word.hpp"
#include "stria/status.hpp"

namespace stria {

class Comm;
class SharedBuffer;

class NodeTurn {
 public:
  /// Collective: yes, over the node at least; the outcome is local.
  static Result<std::unique_ptr<NodeTurn>> create(Comm& comm);

  /// Waits for this rank's turn. Don't hold the turn while waiting for another rank in
  /// any other way.
  void acquire();
  void release();  ///< \pre this rank has the turn
  /// Tells the next in line that the turn will be released within some ten microseconds. \pre this
  /// rank has the turn, and hasn't announced its end yet
  void announce();

  /// Begins the next operation, in which no rank has failed yet. By the result a rank tells the
  /// others that it has failed. Every rank of the node calls this for each operation.
  FailureWord begin_operation() { return {state_->failed_operation, ++operation_}; }

  /// Holds the turn as long as it lives; does nothing when there is no turn to hold.
  class Guard {
   public:
    explicit Guard(NodeTurn* turn) : turn_(turn) {
      if (turn_ != nullptr) {
        turn_->acquire();
      }
    }
    ~Guard() {
      if (turn_ != nullptr) {
        turn_->release();
      }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    NodeTurn* turn_;
  };

 private:
  /// Holds what the node shares.
  struct State {
    std::atomic<uint32_t> next_ticket;
    /// Twice the ticket that is served, plus one once its holder has announced the end.
    std::atomic<uint32_t> phase;
    std::atomic<uint32_t> waiting;  ///< ranks that may be asleep
    std::atomic<int> holder;        ///< the rank that has the turn
    /// The last operation that a rank gave up; they count from 1.
    std::atomic<uint32_t> failed_operation;
  };

  NodeTurn(std::shared_ptr<SharedBuffer> memory, State* state, int rank);
  void wait_for(uint32_t ticket);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  int rank_;
  uint32_t operation_ = 0;
};

/// Returns the turn among the ranks of a node, made at the first call and kept by the communicator;
/// null when the system has no memory to share. Collective: yes, at the first call; the outcome is
/// the same everywhere.
NodeTurn* node_turn(Comm& comm);

}  // namespace stria
