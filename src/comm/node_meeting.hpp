// The ranks of a node tell each other a few numbers.
//
// Problem: a small collective operation spends most of its time on meetings. A meeting by messages
// costs several trips through MPI, in which ranks spin while others could compute.
// Method: each rank leaves its numbers in memory that the node shares, and counts itself in. The
// last one wakes the others, and every rank reads all numbers. Two sets of places take turns, so
// that no rank overwrites what another still reads.
// Cost: one atomic addition, a sleep where a rank is late, and O(ranks) to read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "stria/status.hpp"

namespace stria {

class Comm;
class SharedBuffer;

class NodeMeeting {
 public:
  static constexpr size_t kMostValues = 16;  ///< per rank

  /// \pre all of comm's ranks are on one node. Collective: yes; the outcome is the same everywhere.
  static Result<std::unique_ptr<NodeMeeting>> create(Comm& comm);

  /// Gives this rank's values to all ranks, and returns those of all: `mine.size()` each, in rank
  /// order. They stay until the next meeting. \pre mine.size() <= kMostValues, and the same
  /// everywhere. Collective: yes.
  std::span<const int64_t> exchange(Comm& comm, std::span<const int64_t> mine);

 private:
  /// What the node shares. The two sets of values follow it.
  struct State {
    std::atomic<uint32_t> arrived;
    std::atomic<uint32_t> ended;  ///< meetings
  };

  NodeMeeting(std::shared_ptr<SharedBuffer> memory, uint32_t rank_count);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  uint32_t rank_count_;
  uint32_t number_ = 0;  ///< of the next meeting
};

}  // namespace stria
