#include "report/run_digest.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

#include "report/rule.hpp"
#include "viewer/background_threads.hpp"
#include "viewer/parents.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using trace::Direction;
using trace::Event;
using trace::TraceFile;

// Returns the length of the union of intervals; sorts them.
int64_t union_length(std::vector<std::pair<int64_t, int64_t>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t length = 0;
  int64_t covered = std::numeric_limits<int64_t>::min();
  for (const auto& [begin, end] : intervals) {
    if (end > covered) {
      length += end - std::max(begin, covered);
      covered = end;
    }
  }
  return length;
}

}  // namespace

RunDigest::RunDigest(const TraceFile& trace) : RunDigest(trace, events_in_io(trace)) {}

RunDigest::RunDigest(const TraceFile& trace, const std::vector<bool>& in_io)
    : trace_(trace), counters_(trace), phases_(trace, counters_, in_io), io_seconds_(trace.ranks.size(), 0.0) {
  add_spans(in_io);
  add_parts(in_io);
}

void RunDigest::add_spans(const std::vector<bool>& in_io) {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> of_rank(trace_.ranks.size());
  for (size_t i = 0; i < in_io.size(); ++i) {
    if (!in_io[i]) {
      continue;
    }
    const Event& event = trace_.events[i];
    const trace::KindInfo& kind = trace_.kinds[event.kind];
    of_rank[static_cast<size_t>(event.rank)].emplace_back(event.begin_ns, event.end_ns);
    has_engine_spans_ |= kind.layer == trace::Layer::kEngine;
    has_library_spans_ |= kind.layer == trace::Layer::kLibrary;
    has_storage_spans_ |= kind.layer == trace::Layer::kStorage;
  }
  std::vector<std::pair<int64_t, int64_t>> all;
  for (size_t rank = 0; rank < of_rank.size(); ++rank) {
    all.insert(all.end(), of_rank[rank].begin(), of_rank[rank].end());
    io_seconds_[rank] =
        std::max(seconds_of_counters(static_cast<int>(rank)), static_cast<double>(union_length(of_rank[rank])) * kSecondsPerNs);
    io_wall_seconds_ = std::max(io_wall_seconds_, io_seconds_[rank]);
  }
  io_wall_seconds_ = std::max(io_wall_seconds_, static_cast<double>(union_length(all)) * kSecondsPerNs);
}

// Returns the least time in I/O that a rank's phases tell. Where the engine's spans don't tell it
// better, a rank also waits between its phases, and for commits in the background.
double RunDigest::seconds_of_counters(int rank) const {
  double in_phases = phases_.seconds_of(rank);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    in_phases += phases_.moving_seconds(direction, rank) - phases_.seconds(phase_of(direction), rank);
  }
  if (has_engine_spans_) {
    return in_phases;
  }
  const double waited = static_cast<double>(counters_.of_rank(Counter::kWaitNs, rank)) * kSecondsPerNs;
  return std::max(in_phases, waited) + background_wait_seconds(rank);
}

void RunDigest::add_parts(const std::vector<bool>& in_io) {
  const bool has_inner_spans = has_engine_spans_ || (has_storage_spans_ && counters_.has_request_times());
  if (has_inner_spans && dropped() == 0) {
    parts_ = parts_of_spans(trace_, in_io, parent_indices(trace_.events));
    return;
  }
  const bool only_calls = phases_.seconds() <= 0 && !trace_.events.empty();
  if (only_calls || (!has_engine_spans_ && has_library_spans_)) {
    parts_ = parts_of_calls(trace_, in_io, parent_indices(trace_.events));
    return;
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    PartSeconds& parts = parts_.emplace_back();
    double known = background_wait_seconds(rank);
    parts[std::string(kBackgroundWaitPart)] = known;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      parts[phase_name(static_cast<Phase>(phase))] = phases_.seconds(static_cast<Phase>(phase), rank);
    }
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      parts[phase_name(phase_of(direction))] = phases_.moving_seconds(direction, rank);
    }
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      known += parts[phase_name(static_cast<Phase>(phase))];
    }
    parts[std::string(kOutsidePart)] = std::max(0.0, io_seconds_[static_cast<size_t>(rank)] - known);
  }
}

double RunDigest::moving_share() const {
  return time_share(phases_.moving_seconds(Direction::kRead) + phases_.moving_seconds(Direction::kWrite), io_seconds());
}

double RunDigest::moving_share(Direction direction) const {
  return time_share(phases_.moving_seconds(direction), io_seconds());
}

double RunDigest::waiting_seconds() const {
  return static_cast<double>(counters_.total(Counter::kWaitNs)) * kSecondsPerNs;
}

double RunDigest::background_wait_seconds(int rank) const {
  return static_cast<double>(counters_.of_rank(Counter::kBackgroundWaitNs, rank)) * kSecondsPerNs;
}

double RunDigest::background_wall_seconds() const {
  std::vector<std::pair<int64_t, int64_t>> work;
  for (const Event& event : trace_.events) {
    if (is_background_work(trace_.kinds[event.kind])) {
      work.emplace_back(event.begin_ns, event.end_ns);
    }
  }
  if (!work.empty() && dropped() == 0) {
    return static_cast<double>(union_length(work)) * kSecondsPerNs;
  }
  const int at_once = std::max(1, std::atoi(fact_of(*this, "hint stria_staging_writers").c_str()));
  std::map<int, std::pair<int64_t, int>> of_node;  // nanoseconds, ranks
  for (int rank = 0; rank < ranks(); ++rank) {
    auto& [worked_ns, rank_count] = of_node[trace_.ranks[static_cast<size_t>(rank)].node];
    worked_ns += counters_.of_rank(Counter::kBackgroundNs, rank);
    ++rank_count;
  }
  double longest = 0;
  for (const auto& [node, worked] : of_node) {
    longest = std::max(longest, static_cast<double>(worked.first) * kSecondsPerNs / std::min(at_once, worked.second));
  }
  return std::min(longest, run_seconds());
}

double RunDigest::io_seconds() const {
  return std::accumulate(io_seconds_.begin(), io_seconds_.end(), 0.0);
}

double RunDigest::io_share() const {
  const double whole = run_seconds() * ranks();
  return whole > 0 ? io_seconds() / whole : 0;
}

double RunDigest::useful_rate() const {
  return io_wall_seconds() > 0 ? static_cast<double>(counters_.useful_bytes()) / io_wall_seconds() : 0;
}

std::vector<TimeShare> RunDigest::breakdown() const {
  PartSeconds sums;
  for (const PartSeconds& parts : parts_) {
    for (const auto& [name, seconds] : parts) {
      sums[name] += seconds;
    }
  }
  std::vector<TimeShare> shares;
  for (const auto& [name, seconds] : sums) {
    shares.push_back({name, seconds});
  }
  std::erase_if(shares, [](const TimeShare& share) { return share.seconds <= 0; });
  std::stable_sort(shares.begin(), shares.end(), [](const TimeShare& a, const TimeShare& b) { return a.seconds > b.seconds; });
  return shares;
}

double RunDigest::breakdown_seconds() const {
  double sum = 0;
  for (const TimeShare& share : breakdown()) {
    sum += share.seconds;
  }
  return sum;
}

double RunDigest::part(std::string_view name, int rank) const {
  const PartSeconds& parts = parts_[static_cast<size_t>(rank)];
  const auto found = parts.find(name);
  return found == parts.end() ? 0 : std::max(0.0, found->second);
}

double RunDigest::part(std::string_view name) const {
  double sum = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    sum += part(name, rank);
  }
  return sum;
}

int64_t RunDigest::dropped() const {
  int64_t sum = 0;
  for (const trace::RankInfo& rank : trace_.ranks) {
    sum += rank.dropped;
  }
  return sum;
}

RunDigest::Detail RunDigest::detail() const {
  if (has_storage_spans_ && counters_.has_request_times()) {
    return Detail::kRequests;
  }
  return fact_of(*this, kImportedFrom).empty() ? Detail::kCalls : Detail::kImported;
}

}  // namespace stria::tool
