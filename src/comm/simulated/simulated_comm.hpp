// N ranks in one process, under a schedule that a seed determines.
//
// Problem: real ranks rarely meet the schedules that break a protocol, they can't be replayed, and
// a machine holds few of them.
// Method: each rank is a fiber with its own stack, on the calling thread. At every communication
// call a seeded scheduler picks the rank that runs next. Messages arrive after random delays, in
// order only where the interface promises it. A send is buffered or waits for its receiver, at
// random. Collectives are trees of such messages, so that their number is that of a real
// implementation.
// Cost: about a microsecond per switch, and memory for the stack pages that a rank touches. 16,384
// ranks are practical.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/comm.hpp"

namespace stria {

struct SimulationOptions {
  int ranks = 1;           ///< 1 to 65,535
  int ranks_per_node = 1;  ///< the last node may have fewer
  /// Deals ranks to nodes like cards (rank modulo nodes) instead of filling node after node.
  bool scatter_nodes = false;
  uint64_t seed = 1;
  int64_t stack_bytes = 512 << 10;  ///< the bytes of each rank; only touched pages cost memory
  /// A stack that overflows ends in a fault and not in its neighbour; costs two mappings per rank.
  bool guard_pages = true;
  /// Polling for this long, without any message under way, counts as a deadlock.
  int64_t stall_ms = 20000;
};

/// Holds what one rank has sent. Messages to itself and shared memory don't count.
struct RankTraffic {
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_received = 0;
  int64_t messages_sent_away = 0;  ///< those of them that went to ranks of other nodes
  int64_t bytes_sent_away = 0;
};

struct SimulationReport {
  std::vector<RankTraffic> traffic;  ///< by rank
  int64_t switches = 0;              ///< from the scheduler to a rank

  /// Returns the sum over all ranks.
  RankTraffic total() const;
};

/// Runs `body` once on every rank. The first exception that leaves a rank ends the run and is
/// thrown here. kInternal, with the state of the ranks, when no rank can go on (a deadlock) or when
/// a message and its receive differ in size. kInvalidArgument for options out of range.
/// kResourceExhausted when the stacks can't be allocated. When a run ends early, an exception of no
/// standard type unwinds the other ranks' stacks, so that their destructors run.
Result<SimulationReport> run_simulated(const SimulationOptions& options, const std::function<void(Comm&)>& body);

}  // namespace stria
