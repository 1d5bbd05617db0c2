// Describes what both sides of a rank in a collective operation know: whose bytes go where, and
// what has failed. A rank is a contributor, and may be an aggregator.
#pragma once

#include <utility>

#include "access/together/two_phase/aggregation.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

struct TwoPhaseState {
  Context& context;
  Aggregation aggregation;
  const char* failure_elsewhere;  ///< says that another rank failed
  Status status = {};             ///< status of this rank: its own error, or that another failed
  Parted parted = {};

  int rank() const { return context.comm.rank(); }
  Mailbox& mailbox() { return aggregation.mailbox(); }
  MemoryReserve& memory() { return aggregation.memory(); }

  int64_t receive(int from, int tag) {
    PhaseTimer timer(context.times, Phase::kExchange);
    return mailbox().receive_token(from, tag);
  }

  /// False where memory runs out; the operation has then failed on this rank.
  template <typename Work>
  bool attempt(Work&& work) {
    bool done = false;
    memory().attempt([&] {
      work();
      done = true;
    });
    if (!done && status.ok()) {
      status = memory().status();
    }
    return done;
  }

  /// A rank that knows of a failure brings nothing to any aggregator from then on, so that ranks
  /// that have not heard of it stop within two rounds of a write.
  bool knows_of_failure() const { return !status.ok() || !parted.aggregators.empty(); }

  Status another_failed() {
    return memory().surely([&] { return Status(ErrorCode::kAborted, failure_elsewhere); });
  }
  void note_failure_elsewhere() {
    if (status.ok()) {
      status = another_failed();
    }
  }
};

}  // namespace stria::access
