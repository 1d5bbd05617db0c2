#include "trace/format/clocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace stria::trace {

namespace {

// Clocks of computers drift by parts in 10^5; a sample that claims far more is no measurement.
constexpr double kDriftMax = 0.01;

// The times of a damaged file may be anything, so the sum must not overflow.
int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    sum = a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }
  return sum;
}

// Returns the offset at a time: linear between two samples; before the first and after the last as
// between the nearest two.
int64_t offset_at(const std::vector<ClockSample>& samples, int64_t local_ns) {
  if (samples.size() == 1) {
    return samples[0].offset_ns;
  }
  size_t right = 1;
  while (right + 1 < samples.size() && samples[right].local_ns < local_ns) {
    ++right;
  }
  const ClockSample& a = samples[right - 1];
  const ClockSample& b = samples[right];
  const double elapsed = static_cast<double>(b.local_ns) - static_cast<double>(a.local_ns);
  const double slope = (static_cast<double>(b.offset_ns) - static_cast<double>(a.offset_ns)) / elapsed;
  const double since = static_cast<double>(local_ns) - static_cast<double>(a.local_ns);
  return add(a.offset_ns, static_cast<int64_t>(std::clamp(slope, -kDriftMax, kDriftMax) * since));
}

// Sorts the samples by time, and drops those of the same moment or against another rank
// than the first.
void tidy(std::vector<ClockSample>& samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const ClockSample& a, const ClockSample& b) { return a.local_ns < b.local_ns; });
  std::vector<ClockSample> kept;
  for (const ClockSample& sample : samples) {
    if (kept.empty() || (sample.local_ns > kept.back().local_ns && sample.reference_rank == kept[0].reference_rank)) {
      kept.push_back(sample);
    }
  }
  samples = std::move(kept);
}

}  // namespace

ClockCorrection::ClockCorrection(std::vector<RankClock> clocks, int root) : clocks_(std::move(clocks)), root_(root) {
  for (RankClock& clock : clocks_) {
    tidy(clock.samples);
  }
  errors_.assign(clocks_.size(), -1);
  for (size_t rank = 0; rank < clocks_.size(); ++rank) {
    if (!chain_ends(static_cast<int>(rank))) {
      continue;
    }
    int64_t error = 0;
    for (int at = static_cast<int>(rank); at != root_;) {
      const std::vector<ClockSample>& samples = clocks_[static_cast<size_t>(at)].samples;
      const auto longest = std::max_element(samples.begin(), samples.end(), [](const ClockSample& a, const ClockSample& b) {
        return a.round_trip_ns < b.round_trip_ns;
      });
      error = add(error, longest->round_trip_ns / 2);
      at = samples[0].reference_rank;
    }
    errors_[rank] = error;
  }
}

bool ClockCorrection::chain_ends(int rank) const {
  for (size_t steps = 0; steps <= clocks_.size(); ++steps) {
    if (rank == root_) {
      return true;
    }
    if (rank < 0 || rank >= static_cast<int>(clocks_.size()) || !clocks_[static_cast<size_t>(rank)].present ||
        clocks_[static_cast<size_t>(rank)].samples.empty()) {
      return false;
    }
    rank = clocks_[static_cast<size_t>(rank)].samples[0].reference_rank;
  }
  return false;
}

int64_t ClockCorrection::corrected(int rank, int64_t local_ns) const {
  if (errors_[static_cast<size_t>(rank)] < 0) {
    const RankClock& clock = clocks_[static_cast<size_t>(rank)];
    const RankClock& root = clocks_[static_cast<size_t>(root_)];
    return add(add(local_ns, add(clock.unix_ns, -clock.clock_ns)), add(root.clock_ns, -root.unix_ns));
  }
  while (rank != root_) {
    const std::vector<ClockSample>& samples = clocks_[static_cast<size_t>(rank)].samples;
    local_ns = add(local_ns, offset_at(samples, local_ns));
    rank = samples[0].reference_rank;
  }
  return local_ns;
}

}  // namespace stria::trace
