// The communicator of ranks whose calls take the time of a machine.
//
// Problem: the engine shall run as it is, on ten thousands of ranks.
// Method: point to point as messages.hpp has it. A collective is a meeting: the last rank to come
// begins it, and all leave after the steps of a tree over the ranks, so that it costs two events a
// rank instead of log2(ranks) messages.
// Limits: all ranks leave a collective at once; in a real one some leave earlier.
#pragma once

#include <functional>
#include <memory>

#include "clock/clock.hpp"
#include "comm/comm.hpp"
#include "machine/machine.hpp"
#include "network/messages.hpp"

namespace stria::simulate {

struct WorldOptions {
  int ranks = 1;
  bool carries_payload = true;
  int64_t stack_bytes = 128 << 10;  ///< the bytes of a rank; only touched pages cost memory
};

struct RunReport {
  double seconds = 0;  ///< the seconds of the clock, when the last rank had ended
  int64_t events = 0;
  Traffic traffic;
};

/// Runs `body` once on every rank, by a clock that has run nothing before. The first exception that
/// leaves a rank is thrown here. kInternal, with the state of ranks, when none can go on.
/// kInvalidArgument for options out of range, kResourceExhausted when there is no room for the
/// stacks.
Result<RunReport> run_ranks(const Machine& machine, const WorldOptions& options, Clock& clock,
                            const std::function<void(Comm&)>& body);

}  // namespace stria::simulate
