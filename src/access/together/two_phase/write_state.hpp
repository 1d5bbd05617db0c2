// What both sides of a rank in a collective write know: whose bytes go where, and which of them has
// failed. A rank is a contributor, and may be an aggregator.
#pragma once

#include <utility>

#include "access/together/two_phase/aggregation.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

struct WriteState {
  Context& context;
  Aggregation aggregation;
  Status status = {};  ///< of this rank: its own error, or that another failed
  Parted parted = {};

  int rank() const { return context.comm.rank(); }
  Mailbox& mailbox() { return aggregation.mailbox(); }
  MemoryReserve& memory() { return aggregation.memory(); }

  int64_t receive(int from, int tag) {
    PhaseTimer timer(context.times, Phase::kExchange);
    return mailbox().receive_token(from, tag);
  }

  /// False where memory runs out; this rank's writing then ends.
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

  /// From then on a rank brings nothing to any aggregator, so that ranks that have not heard of it
  /// stop within two rounds.
  bool knows_of_failure() const { return !status.ok() || !parted.aggregators.empty(); }

  Status another_failed() {
    return memory().surely([] { return Status(ErrorCode::kAborted, "another rank could not write"); });
  }
};

}  // namespace stria::access
