// One time axis from the clocks of many ranks.
//
// Problem: each node has its own clock, which is off by milliseconds and drifts.
// Method: at the start and at the end of a run, ranks compare their clocks along a binomial tree
// (comm/trace/clock_sync.hpp). Between samples the offset is taken as linear in time. A rank's time
// is corrected step by step up the tree, to rank 0. As in MPE's clock synchronisation (Zaki, Lusk,
// Gropp, Swider: Toward scalable performance visualization with Jumpshot, 1999).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/format/part.hpp"

namespace stria::trace {

/// Holds what one rank knows of its clock.
struct RankClock {
  bool present = false;
  std::vector<ClockSample> samples;  ///< all against the same rank; none on rank 0
  int64_t clock_ns = 0;              ///< a reading of the clock, and the time of day at that moment
  int64_t unix_ns = 0;
};

class ClockCorrection {
 public:
  /// `clocks` has one entry per rank. The time of day places a rank without samples, or whose chain
  /// of references doesn't end at `root`.
  ClockCorrection(std::vector<RankClock> clocks, int root);

  /// Converts a time of `rank`'s clock to the root's clock.
  int64_t corrected(int rank, int64_t local_ns) const;
  /// Returns a bound of the error: half of the round trips along the tree; -1 for a rank that the
  /// time of day has placed.
  int64_t error_ns(int rank) const { return errors_[static_cast<size_t>(rank)]; }

 private:
  bool chain_ends(int rank) const;

  std::vector<RankClock> clocks_;
  std::vector<int64_t> errors_;
  int root_;
};

}  // namespace stria::trace
