// Where the ranks of a node tell each other a few numbers.
//
// Problem: a small collective operation is mostly meetings, and a meeting by messages costs a rank some trips through MPI, with
// ranks that spin while others would compute. Method: each rank leaves its numbers in memory that the node shares and counts
// itself in; the last wakes the others; everybody reads all. Two sets of places are used in turn, so that nobody writes what
// another still reads. Cost: one atomic addition, a sleep where somebody is late, O(ranks) to read.
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
  static constexpr size_t kMostValues = 16;  ///< of a rank

  /// \pre all of comm's ranks are on one node. Collective: yes; the outcome is the same everywhere.
  static Result<std::unique_ptr<NodeMeeting>> create(Comm& comm);

  /// Gives this rank's values to all and returns those of all ranks, `mine.size()` each, in rank order; they stay until the
  /// next meeting. \pre mine.size() <= kMostValues, the same everywhere. Collective: yes.
  std::span<const int64_t> exchange(Comm& comm, std::span<const int64_t> mine);

 private:
  /// What the node shares; the values of the ranks follow, twice.
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
