// The ranks of a node tell each other a few numbers.
//
// Problem: a small collective operation spends most of its time on meetings. A meeting by messages
// costs several trips through MPI, in which ranks spin while others could compute.
// Method: each rank leaves its numbers in memory that the node shares, and counts itself in. The
// last one wakes the others, and every rank reads all numbers. Two sets of places take turns, so
// that no rank overwrites what another still reads. In a numbered operation a rank may also pass:
// it writes the operation's number into a line of its own and goes on. The ranks that come wait
// until every line has reached that number, and see by the lines whether all have come.
// Cost: one atomic addition, a sleep where a rank is late, and O(ranks) to read; to pass, a store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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

  /// Does what exchange() does, for the next numbered operation, but with kMostValues places a
  /// rank, of which the first are filled. Nothing where a rank passes, and the same on all ranks
  /// that come.
  /// Collective: with pass(); each rank calls one of the two.
  std::optional<std::span<const int64_t>> come(Comm& comm, std::span<const int64_t> mine);
  /// Goes without a meeting through the next numbered operation. Never waits.
  void pass(Comm& comm);
  /// Returns the number of the last operation that this rank has begun; they count from 1.
  int64_t operation() const { return operation_; }

 private:
  static constexpr int kSets = 2;
  static constexpr size_t kLineBytes = 64;
  /// Holds what the node shares. A line of each rank follows it, then the sets of values, first
  /// those of exchanges.
  struct alignas(kLineBytes) State {
    std::atomic<uint32_t> arrived;   ///< at exchanges
    std::atomic<uint32_t> ended;     ///< exchanges
    std::atomic<uint32_t> sleepers;  ///< ranks that wait for numbered operations to begin
    std::atomic<uint32_t> begun;     ///< changes when one begins that somebody waits for
  };
  struct alignas(kLineBytes) Line {
    std::atomic<int64_t> operation;    ///< the last that the rank has begun
    std::atomic<int64_t> came[kSets];  ///< the last that it came to, by the set for its values
  };

  NodeMeeting(Comm& comm, std::shared_ptr<SharedBuffer> memory);
  Line& line(size_t rank) const;
  int64_t* values(uint32_t set) const;
  void begin_operation(Comm& comm);
  void wait_for_all(Comm& comm);

  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  size_t rank_;
  uint32_t rank_count_;
  uint32_t exchanges_ = 0;
  uint32_t met_ = 0;  ///< numbered operations to which all have come
  int64_t operation_ = 0;
};

}  // namespace stria
