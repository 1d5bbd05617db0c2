// How an operation is carried out: what the planner decides, and what the methods work by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "access/request/hints.hpp"
#include "access/request/region.hpp"

namespace stria::access {

/// How pieces become requests.
struct RegionMethod {
  JoinRule rule;
  int64_t window_bytes = 512 << 10;     ///< ind_rd_buffer_size or ind_wr_buffer_size
  bool one_request_per_region = false;  ///< else a batch of regions is one list
};

/// How a collective operation is spread out; the same on every rank.
struct TwoPhasePlan {
  std::vector<int> aggregators;  ///< their ranks
  int64_t unit_bytes = 4096;     ///< file domains begin at multiples of this
  int stripe_count = 1;          ///< above 1: units are stripes over so many servers, and dealt out (stripe_deal.hpp)
  bool shared_memory = true;
  bool gather_on_nodes = false;  ///< ranks of a node speak through one of them to an aggregator elsewhere (node_delegates.hpp)
  /// A rank whose file types list more entries than this sends an aggregator the pieces of one round at a time.
  int64_t most_entries_at_once = 16 << 10;
};

struct Plan {
  Method method = Method::kListIo;
  TwoPhasePlan two_phase;
  bool windows = false;  ///< kTwoPhase on one node: windows that its ranks share do (node_windows.hpp)
  bool direct = false;   ///< write aligned stretches past the page cache
  bool reserve = false;  ///< reserve the file's space before writing
  std::string reason;
};

struct IndependentPlan {
  Method method = Method::kListIo;
  RegionMethod regions;
  std::string reason;
};

}  // namespace stria::access
