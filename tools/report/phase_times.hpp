// The seconds of every rank in each phase: from its counters, or from the engine's spans where a
// trace has no counters.
#pragma once

#include <array>
#include <vector>

#include "report/counter_sums.hpp"
#include "stria/phases.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

class PhaseTimes {
 public:
  /// `counters` are those of `trace`, and outlive this. `in_io`: as events_in_io().
  PhaseTimes(const trace::TraceFile& trace, const CounterSums& counters, const std::vector<bool>& in_io);

  /// Seconds in a phase, summed over the ranks.
  double seconds(Phase phase) const;
  double seconds(Phase phase, int rank) const;
  /// Returns the seconds in any phase: of one rank, and summed over the ranks.
  double seconds_of(int rank) const;
  double seconds() const;
  /// Seconds in which a rank, or all ranks together, wrote or read: in the phases of these names,
  /// or, where that is longer, in requests to the storage. Independent calls of MPI-IO have no
  /// phases. What the background wrote is not among them.
  double moving_seconds(trace::Direction direction, int rank) const;
  double moving_seconds(trace::Direction direction) const;

 private:
  void add_phase_of(const trace::KindInfo& kind, const trace::Event& event);

  const CounterSums& counters_;
  std::vector<std::array<double, kPhaseCount>> by_rank_;
};

Phase phase_of(trace::Direction direction);

}  // namespace stria::tool
