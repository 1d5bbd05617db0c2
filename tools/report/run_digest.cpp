#include "report/run_digest.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "report/rule.hpp"
#include "report/span_counters.hpp"
#include "trace/format/counter_view.hpp"
#include "viewer/background_threads.hpp"
#include "viewer/parents.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using trace::Direction;
using trace::Event;
using trace::TraceFile;

constexpr int kFirstPhaseCounter = static_cast<int>(Counter::kOpenNs);

Phase phase_of(Direction direction) {
  return direction == Direction::kRead ? Phase::kRead : Phase::kWrite;
}

// The length of the union of intervals; sorts them.
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

void add_row(CounterRow& sum, const CounterRow& row) {
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] = trace::counter_is_sum(static_cast<Counter>(i)) ? sum[i] + row[i] : std::max(sum[i], row[i]);
  }
}

}  // namespace

RunDigest::RunDigest(const TraceFile& trace)
    : trace_(trace),
      rank_rows_(trace.ranks.size()),
      file_rows_(trace.files.size()),
      phases_(trace.ranks.size()),
      io_seconds_(trace.ranks.size(), 0.0) {
  add_counters();
  add_spans();
}

void RunDigest::add_counters() {
  const trace::CounterView view(trace_);
  for (const trace::CounterSet& set : trace_.counter_sets) {
    CounterRow row{};
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = view.value(set, static_cast<Counter>(i));
    }
    add_counters_of(set.rank, set.file, row);
  }
  has_request_times_ = total(Counter::kReadRequestNs) + total(Counter::kWriteRequestNs) > 0;
  if (total(Counter::kBytesRead) + total(Counter::kBytesWritten) + total(Counter::kOpens) == 0) {
    for (const trace::CounterSet& set : counters_of_spans(trace_)) {
      CounterRow row{};
      std::copy(set.values.begin(), set.values.end(), row.begin());
      add_counters_of(set.rank, set.file, row);
    }
  }
  for (int file = 0; file < static_cast<int>(file_rows_.size()); ++file) {
    if (of_file(Counter::kOpens, file) + of_file(Counter::kBytesRead, file) + of_file(Counter::kBytesWritten, file) > 0) {
      files_.push_back(file);
    }
  }
}

void RunDigest::add_counters_of(int rank, int file, const CounterRow& row) {
  add_row(total_, row);
  add_row(rank_rows_[static_cast<size_t>(rank)], row);
  if (file >= 0) {
    add_row(file_rows_[static_cast<size_t>(file)], row);
  }
  opened_pairs_ += row[static_cast<size_t>(Counter::kOpens)] > 0;
  for (int common = 0; common < 4; ++common) {
    const size_t at = static_cast<size_t>(Counter::kCommonSize1) + 2 * static_cast<size_t>(common);
    if (row[at + 1] > 0) {
      sizes_[row[at]] += row[at + 1];
    }
  }
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    phases_[static_cast<size_t>(rank)][phase] +=
        static_cast<double>(row[static_cast<size_t>(kFirstPhaseCounter) + phase]) * kSecondsPerNs;
  }
}

void RunDigest::add_spans() {
  const bool has_phases = phase_seconds() > 0;
  const std::vector<bool> in_io = events_in_io(trace_);
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
    if (!has_phases) {
      add_phases_of(event);
    }
  }
  std::vector<std::pair<int64_t, int64_t>> all;
  for (size_t rank = 0; rank < of_rank.size(); ++rank) {
    all.insert(all.end(), of_rank[rank].begin(), of_rank[rank].end());
    io_seconds_[rank] =
        std::max(seconds_of_counters(static_cast<int>(rank)), static_cast<double>(union_length(of_rank[rank])) * kSecondsPerNs);
    io_wall_seconds_ = std::max(io_wall_seconds_, io_seconds_[rank]);
  }
  io_wall_seconds_ = std::max(io_wall_seconds_, static_cast<double>(union_length(all)) * kSecondsPerNs);
  add_parts(in_io);
}

// The least time in I/O that a rank's phases tell. Where the engine's spans don't tell it better,
// a rank also waits between its phases, and for commits in the background.
double RunDigest::seconds_of_counters(int rank) const {
  const auto& phases = phases_[static_cast<size_t>(rank)];
  double in_phases = std::accumulate(phases.begin(), phases.end(), 0.0);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    in_phases += moving_seconds(direction, rank) - seconds(phase_of(direction), rank);
  }
  if (has_engine_spans_) {
    return in_phases;
  }
  const double waited = static_cast<double>(of_rank(Counter::kWaitNs, rank)) * kSecondsPerNs;
  return std::max(in_phases, waited) + background_wait_seconds(rank);
}

void RunDigest::add_phases_of(const Event& event) {
  const trace::KindInfo& kind = trace_.kinds[event.kind];
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (kind.layer == trace::Layer::kEngine && kind.name == phase_name(static_cast<Phase>(phase))) {
      phases_[static_cast<size_t>(event.rank)][phase] += static_cast<double>(event.end_ns - event.begin_ns) * kSecondsPerNs;
    }
  }
}

void RunDigest::add_parts(const std::vector<bool>& in_io) {
  const bool has_inner_spans = has_engine_spans_ || (has_storage_spans_ && has_request_times_);
  if (has_inner_spans && dropped() == 0) {
    parts_ = parts_of_spans(trace_, in_io, parent_indices(trace_.events));
    return;
  }
  const bool only_calls = phase_seconds() <= 0 && !trace_.events.empty();
  if (only_calls || (!has_engine_spans_ && has_library_spans_)) {
    parts_ = parts_of_calls(trace_, in_io, parent_indices(trace_.events));
    return;
  }
  parts_.resize(phases_.size());
  for (size_t rank = 0; rank < parts_.size(); ++rank) {
    double known = background_wait_seconds(static_cast<int>(rank));
    parts_[rank][std::string(kBackgroundWaitPart)] = known;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      parts_[rank][phase_name(static_cast<Phase>(phase))] = phases_[rank][phase];
    }
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      parts_[rank][phase_name(phase_of(direction))] = moving_seconds(direction, static_cast<int>(rank));
    }
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      known += parts_[rank][phase_name(static_cast<Phase>(phase))];
    }
    parts_[rank][std::string(kOutsidePart)] = std::max(0.0, io_seconds_[rank] - known);
  }
}

int64_t RunDigest::of_rank(Counter counter, int rank) const {
  return rank_rows_[static_cast<size_t>(rank)][static_cast<size_t>(counter)];
}

int64_t RunDigest::of_file(Counter counter, int file) const {
  return file_rows_[static_cast<size_t>(file)][static_cast<size_t>(counter)];
}

std::vector<int64_t> RunDigest::by_rank(Counter counter) const {
  std::vector<int64_t> values;
  for (int rank = 0; rank < ranks(); ++rank) {
    values.push_back(of_rank(counter, rank));
  }
  return values;
}

std::vector<std::pair<int64_t, int64_t>> RunDigest::common_sizes() const {
  std::vector<std::pair<int64_t, int64_t>> sizes(sizes_.begin(), sizes_.end());
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sizes;
}

double RunDigest::seconds(Phase phase, int rank) const {
  return phases_[static_cast<size_t>(rank)][static_cast<size_t>(phase)];
}

double RunDigest::seconds(Phase phase) const {
  double sum = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    sum += seconds(phase, rank);
  }
  return sum;
}

double RunDigest::phase_seconds() const {
  double sum = 0;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    sum += seconds(static_cast<Phase>(phase));
  }
  return sum;
}

double RunDigest::moving_seconds(Direction direction, int rank) const {
  const Counter requests = direction == Direction::kRead ? Counter::kReadRequestNs : Counter::kWriteRequestNs;
  const int64_t background_ns = direction == Direction::kRead ? 0 : of_rank(Counter::kBackgroundNs, rank);
  const double in_requests = static_cast<double>(of_rank(requests, rank) - background_ns) * kSecondsPerNs;
  return std::max(seconds(phase_of(direction), rank), in_requests);
}

double RunDigest::moving_seconds(Direction direction) const {
  double sum = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    sum += moving_seconds(direction, rank);
  }
  return sum;
}

double RunDigest::moving_share() const {
  return time_share(moving_seconds(Direction::kRead) + moving_seconds(Direction::kWrite), io_seconds());
}

double RunDigest::moving_share(Direction direction) const {
  return time_share(moving_seconds(direction), io_seconds());
}

double RunDigest::waiting_seconds() const {
  return static_cast<double>(total(Counter::kWaitNs)) * kSecondsPerNs;
}

double RunDigest::background_wait_seconds(int rank) const {
  return static_cast<double>(of_rank(Counter::kBackgroundWaitNs, rank)) * kSecondsPerNs;
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
    worked_ns += of_rank(Counter::kBackgroundNs, rank);
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
  return io_wall_seconds() > 0 ? static_cast<double>(useful_bytes()) / io_wall_seconds() : 0;
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

int64_t RunDigest::useful_bytes() const {
  const int64_t handed_over = total(Counter::kBytesPut) + total(Counter::kBytesGot);
  return handed_over > 0 ? handed_over : total(Counter::kBytesWritten) + total(Counter::kBytesRead);
}

int RunDigest::writers() const {
  const std::vector<int64_t> written = by_rank(Counter::kBytesWritten);
  return static_cast<int>(std::max<int64_t>(1, std::count_if(written.begin(), written.end(), [](int64_t b) { return b > 0; })));
}

int64_t RunDigest::dropped() const {
  int64_t sum = 0;
  for (const trace::RankInfo& rank : trace_.ranks) {
    sum += rank.dropped;
  }
  return sum;
}

RunDigest::Detail RunDigest::detail() const {
  if (has_storage_spans_ && has_request_times_) {
    return Detail::kRequests;
  }
  return fact_of(*this, kImportedFrom).empty() ? Detail::kCalls : Detail::kImported;
}

int RunDigest::file_of_most(Counter one, Counter other) const {
  int most = -1;
  int64_t most_counted = 0;
  for (int file : files_) {
    const int64_t counted = of_file(one, file) + of_file(other, file);
    if (counted > most_counted) {
      most = file;
      most_counted = counted;
    }
  }
  return most;
}

}  // namespace stria::tool
