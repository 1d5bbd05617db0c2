// N ranks in one process, under a schedule that a seed decides.
//
// Problem: real ranks rarely meet the schedules that break a protocol, can't be replayed, and a machine holds few of them.
// Method: each rank is a fiber with a stack of its own on the calling thread. At every communication call a seeded scheduler
// picks who runs next; messages arrive after random delays, kept in order only where the interface promises it; a send is
// buffered or waits for its receiver, at random. Collectives are trees of such messages, so their counts are those of a real
// implementation. Cost: about a microsecond a switch; memory for the stack pages that a rank touches. 16,384 ranks are
// practical.
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
  int64_t stack_bytes = 512 << 10;  ///< of each rank; only touched pages cost memory
  bool guard_pages = true;   ///< an overflowing stack ends in a fault instead of in its neighbour's; costs two mappings a rank
  int64_t stall_ms = 20000;  ///< polling without any message under way for so long counts as a deadlock
};

/// What one rank put on the network: messages to itself and shared memory don't count.
struct RankTraffic {
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_received = 0;
  int64_t messages_sent_away = 0;  ///< of those sent, to ranks of other nodes
  int64_t bytes_sent_away = 0;
};

struct SimulationReport {
  std::vector<RankTraffic> traffic;  ///< by rank
  int64_t switches = 0;              ///< from the scheduler to a rank
};

/// Runs `body` once on every rank. The first exception that a rank lets out ends the run and comes out here. kInternal, with
/// the state of the ranks, when nobody can go on (a deadlock) or when a message and its receive differ in size;
/// kInvalidArgument for options out of range; kResourceExhausted when the stacks can't be had. When a run ends early the other
/// ranks' stacks are unwound by an exception of no standard type, so their destructors run.
Result<SimulationReport> run_simulated(const SimulationOptions& options, const std::function<void(Comm&)>& body);

}  // namespace stria
