// Describes how an operation is carried out: what the planner decides for the methods.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "access/request/hints.hpp"
#include "access/request/region.hpp"

namespace stria::access {

/// Says how pieces become requests.
struct RegionMethod {
  JoinRule rule;
  int64_t window_bytes = 512 << 10;     ///< ind_rd_buffer_size or ind_wr_buffer_size
  bool one_request_per_region = false;  ///< false: a batch of regions is one list
};

/// Every rank moves its own bytes. List I/O is carried out in one of two ways.
struct Alone {
  Method method = Method::kListIo;
  /// True: list I/O moves the same rows of many lanes together (alone/batches.hpp). False: each
  /// rank makes a plan of its own (IndependentPlan), whose list I/O is of regions
  /// (alone/regions.hpp).
  bool in_batches = false;
};

/// Ranks bring their bytes together at some of them.
struct ThroughAggregators {
  std::vector<int> aggregators;     ///< their ranks
  int64_t unit_bytes = 4096;        ///< file domains begin at multiples of this
  int64_t buffer_bytes = 32 << 20;  ///< all collective buffers of one aggregator together
  /// Where this is above 1, units are stripes over so many servers, and dealt out
  /// (stripe_deal.hpp).
  int stripe_count = 1;
  bool shared_memory = true;
  /// Ranks of a node speak through one of them to an aggregator elsewhere (delegates.hpp).
  bool gather_on_nodes = false;
  /// Contributions travel along the axes of a grid (together/axes/): always, never, or where what
  /// the ranks find out of each other says that it pays.
  Switch axes = Switch::kDisable;
  /// A rank whose file types list more entries than this sends an aggregator the pieces of one
  /// round at a time.
  int64_t most_entries_at_once = 16 << 10;
};

/// The ranks of one node fill windows that they share (node_windows.hpp).
struct ThroughWindows {};

/// Says how all ranks carry out an operation; the same on every rank.
struct Plan {
  std::variant<Alone, ThroughAggregators, ThroughWindows> way;
  std::string reason;

  template <typename Way>
  const Way* as() const {
    return std::get_if<Way>(&way);
  }
  Method method() const { return as<Alone>() != nullptr ? as<Alone>()->method : Method::kTwoPhase; }
  /// Returns the ranks of the aggregators; empty where there are none.
  std::span<const int> aggregators() const {
    const auto* through = as<ThroughAggregators>();
    return through != nullptr ? std::span<const int>(through->aggregators) : std::span<const int>();
  }
};

/// Says how the storage is used for a write.
struct StorageUse {
  bool direct = false;   ///< aligned stretches go past the page cache
  bool reserve = false;  ///< the file's space is reserved first
};

/// Says how a rank moves its bytes by itself.
struct IndependentPlan {
  Method method = Method::kListIo;
  RegionMethod regions;
  std::string reason;
};

}  // namespace stria::access
