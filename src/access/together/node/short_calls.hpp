// When a rank of a node ends a collective call of one short piece without waiting for the others.
//
// Problem: such a call takes a microsecond, and a meeting of the ranks takes as long or, with more
// ranks than processors, several times as long.
// Method: a call to which all ranks have come with one short piece lets the following ones of the
// same direction pass. A rank passes by its own request alone (node_meeting.hpp). One that needs
// the others comes, and where it finds that somebody has passed it moves its bytes alone and says
// so; the next call brings all together again. So does a change of direction, before any rank
// moves: what was written is then there for those that read.
// Cost: a store, and two loads.
// Failures: that of a rank which passes is its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "comm/node_meeting.hpp"

namespace stria::access {

class ShortCalls {
 public:
  /// Longer pieces take so long that a meeting hardly shows.
  static constexpr int64_t kMostBytes = 64 << 10;

  /// `missed` is shared, and 0 at first.
  ShortCalls(NodeMeeting& meeting, std::atomic<int64_t>& missed) : meeting_(meeting), missed_(missed) {}

  /// Tells whether this rank, whose request is one piece, may pass.
  bool may_pass(bool write, int64_t bytes) const {
    return is_passing(write, bytes) && missed_.load(std::memory_order_relaxed) <= since_;
  }
  /// \pre may_pass() has said so for this call
  void pass(Comm& comm, bool write, int64_t bytes) {
    STRIA_ASSERT(is_passing(write, bytes), write, bytes);  // else another rank waits in vain
    in_step_ = false;
    meeting_.pass(comm);
  }
  /// This rank comes again from now on.
  void stop() { passing_ = false; }

  /// Tells whether all ranks have ended all earlier calls, so that this one may move its bytes
  /// before it comes.
  bool in_step() const { return in_step_; }
  /// Returns the number of the call that is about to begin.
  int64_t next_call() const { return meeting_.operation() + 1; }
  /// Comes to the next call with so many values. Nothing where a rank has passed.
  std::optional<std::span<const int64_t>> come(Comm& comm, std::span<const int64_t> mine);
  /// All have come; `all_short` tells whether each has moved one short piece.
  void note_meeting(bool all_short, bool write);

 private:
  bool is_passing(bool write, int64_t bytes) const { return passing_ && writes_ == write && bytes <= kMostBytes; }

  NodeMeeting& meeting_;
  std::atomic<int64_t>& missed_;  ///< the last call to which a rank came in vain
  bool in_step_ = true;
  bool passing_ = false;
  bool writes_ = false;
  int64_t since_ = 0;  ///< the call that let the following ones pass
};

}  // namespace stria::access
