#include "report/phase_times.hpp"

#include <algorithm>
#include <numeric>

#include "report/time_parts.hpp"

namespace stria::tool {

using trace::Counter;
using trace::Direction;

Phase phase_of(Direction direction) {
  return direction == Direction::kRead ? Phase::kRead : Phase::kWrite;
}

PhaseTimes::PhaseTimes(const trace::TraceFile& trace, const CounterSums& counters, const std::vector<bool>& in_io)
    : counters_(counters), by_rank_(trace.ranks.size()) {
  for (size_t rank = 0; rank < by_rank_.size(); ++rank) {
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      const auto counter = static_cast<Counter>(static_cast<size_t>(Counter::kOpenNs) + phase);
      by_rank_[rank][phase] = static_cast<double>(counters.of_rank(counter, static_cast<int>(rank))) * kSecondsPerNs;
    }
  }
  if (seconds() > 0) {
    return;
  }
  for (size_t i = 0; i < in_io.size(); ++i) {
    if (in_io[i]) {
      add_phase_of(trace.kinds[trace.events[i].kind], trace.events[i]);
    }
  }
}

void PhaseTimes::add_phase_of(const trace::KindInfo& kind, const trace::Event& event) {
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (kind.layer == trace::Layer::kEngine && kind.name == phase_name(static_cast<Phase>(phase))) {
      by_rank_[static_cast<size_t>(event.rank)][phase] += static_cast<double>(event.end_ns - event.begin_ns) * kSecondsPerNs;
    }
  }
}

double PhaseTimes::seconds(Phase phase, int rank) const {
  return by_rank_[static_cast<size_t>(rank)][static_cast<size_t>(phase)];
}

double PhaseTimes::seconds(Phase phase) const {
  double sum = 0;
  for (const auto& phases : by_rank_) {
    sum += phases[static_cast<size_t>(phase)];
  }
  return sum;
}

double PhaseTimes::seconds_of(int rank) const {
  const auto& phases = by_rank_[static_cast<size_t>(rank)];
  return std::accumulate(phases.begin(), phases.end(), 0.0);
}

double PhaseTimes::seconds() const {
  double sum = 0;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    sum += seconds(static_cast<Phase>(phase));
  }
  return sum;
}

double PhaseTimes::moving_seconds(Direction direction, int rank) const {
  const Counter requests = direction == Direction::kRead ? Counter::kReadRequestNs : Counter::kWriteRequestNs;
  const int64_t background_ns = direction == Direction::kRead ? 0 : counters_.of_rank(Counter::kBackgroundNs, rank);
  const double in_requests = static_cast<double>(counters_.of_rank(requests, rank) - background_ns) * kSecondsPerNs;
  return std::max(seconds(phase_of(direction), rank), in_requests);
}

double PhaseTimes::moving_seconds(Direction direction) const {
  double sum = 0;
  for (int rank = 0; rank < static_cast<int>(by_rank_.size()); ++rank) {
    sum += moving_seconds(direction, rank);
  }
  return sum;
}

}  // namespace stria::tool
