// What both sides of a rank in a collective read know: whose bytes go where, and what has failed.
#pragma once

#include <utility>

#include "access/together/two_phase/aggregation.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

struct ReadState {
  /// Instead of an end of the file: the aggregator has failed. The last word between the two.
  static constexpr int64_t kFailed = -1;

  Context& context;
  Aggregation aggregation;
  Status status = {};  ///< of this rank: its own error, or that another failed
  Parted parted = {};

  int rank() const { return context.comm.rank(); }
  Mailbox& mailbox() { return aggregation.mailbox(); }
  MemoryReserve& memory() { return aggregation.memory(); }

  void note_failure_elsewhere() {
    if (status.ok()) {
      status = memory().surely([] { return Status(ErrorCode::kAborted, "another rank could not read"); });
    }
  }
};

}  // namespace stria::access
