// Takes turns among the ranks of a node, first come first served.
//
// Problem: the kernel lets one process at a time write to a file's cached pages. Ranks that pack and write at their own pace
// fall into step: all wait for the inode's lock, spinning, then all pack while nobody writes; and who waits longest is left to
// chance. Method: a ticket lock in memory shared by the node, on which waiting ranks sleep (a futex, woken one at a time), held
// while a batch is written: one rank's packing hides behind another's writing. To wake a rank takes as long as to write a
// hundred kilobytes: the holder may announce that it is about to end, and the next in line wakes early and spins for the rest.
// A rank that hands the turn to another gives up its processor once: where ranks outnumber processors the next would otherwise
// wait until somebody has packed. Cost: no system call when nobody waits, three when somebody does.
//
// The same memory tells the others that one has failed, so that they stop within a batch and not at the end of their data.
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

  /// Waits for this rank's turn. Must not be held while waiting for another rank in any other way.
  void acquire();
  void release();
  /// Tells the next in line that the turn will be released within some ten microseconds. \pre the turn is held; once a turn
  void announce();

  /// Begins the next operation, in which nobody has failed yet, and by whose word a rank tells that it has. Every rank of the
  /// node calls it for each operation.
  FailureWord begin_operation() { return {state_->failed_operation, ++operation_}; }

  /// Holds the turn for as long as it lives; does nothing when there is none to hold.
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
  /// What the node shares.
  struct State {
    std::atomic<uint32_t> next_ticket;
    std::atomic<uint32_t> phase;    ///< twice the ticket that is served, plus one once its holder has announced the end
    std::atomic<uint32_t> waiting;  ///< ranks that may be asleep
    std::atomic<int> holder;        ///< the rank that has the turn
    std::atomic<uint32_t> failed_operation;  ///< the last one that a rank gave up; they count from 1
  };

  NodeTurn(std::shared_ptr<SharedBuffer> memory, State* state, int rank);
  void wait_for(uint32_t ticket);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  int rank_;
  uint32_t operation_ = 0;
};

}  // namespace stria
