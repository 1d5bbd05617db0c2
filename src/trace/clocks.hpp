// One time axis from the clocks of many ranks.
//
// Problem: each node has its own clock, off by milliseconds and drifting. Method: ranks compare their clocks by ping-pong along
// a binomial tree at the start and at the end of the run (comm/trace/clock_sync.hpp), each time keeping the sample of least
// round trip and its midpoint; between samples the offset is taken as linear in time. A rank's time goes up the tree to rank 0.
// As in MPE's clock synchronisation (Zaki, Lusk, Gropp, Swider: Toward scalable performance visualization with Jumpshot, 1999).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/part.hpp"

namespace stria::trace {

/// What one rank knows of its clock.
struct RankClock {
  bool present = false;
  std::vector<ClockSample> samples;  ///< all against the same reference; none on rank 0
  int64_t clock_ns = 0;              ///< a reading of the clock, and the time of day then
  int64_t unix_ns = 0;
};

class ClockCorrection {
 public:
  /// `clocks` by rank. A rank without samples, or whose chain of references doesn't end at rank `root`, is placed by the time
  /// of day.
  ClockCorrection(std::vector<RankClock> clocks, int root);

  /// A time of `rank`'s clock on the root's.
  int64_t corrected(int rank, int64_t local_ns) const;
  /// Bound of the error that the measurements allow: half the round trips along the tree; -1 for a rank placed by the time of
  /// day.
  int64_t error_ns(int rank) const { return errors_[static_cast<size_t>(rank)]; }

 private:
  bool chain_ends(int rank) const;

  std::vector<RankClock> clocks_;
  std::vector<int64_t> errors_;
  int root_;
};

}  // namespace stria::trace
