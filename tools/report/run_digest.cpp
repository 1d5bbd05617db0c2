#include "report/run_digest.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "report/span_counters.hpp"
#include "viewer/parents.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using trace::Event;
using trace::TraceFile;

constexpr int kFirstPhaseCounter = static_cast<int>(Counter::kOpenNs);
constexpr double kSecondsPerNs = 1e-9;
constexpr const char* kItself = " itself";
constexpr double kLeastShareOfACall = 0.01;  // what takes less is put together with its like
constexpr const char* kAgreement = "agreement among ranks";

// Spans of a program's own regions are not I/O; calls of Stria and of the wrapped libraries are.
bool is_io(const trace::KindInfo& kind) {
  static constexpr const char* kPrefixes[] = {"File::", "Dataset::", "MPI_File_", "H5", "ncmpi_", "nc_"};
  return kind.layer != trace::Layer::kApp || std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                                         [&kind](const char* prefix) { return kind.name.starts_with(prefix); });
}

bool is_inner(const trace::KindInfo& kind) {
  return kind.layer == trace::Layer::kEngine || kind.layer == trace::Layer::kStorage;
}

// What a span right inside a call is to a reader: collective operations and waits are one thing.
std::string inner_name(const trace::KindInfo& kind) {
  static constexpr const char* kAgreements[] = {"message wait", "barrier", "broadcast", "reduce", "gather", "share memory"};
  const bool agrees = std::find(std::begin(kAgreements), std::end(kAgreements), kind.name) != std::end(kAgreements);
  return agrees ? kAgreement : kind.name;
}

// Length of the union of intervals; sorts them.
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
      io_seconds_(trace.ranks.size(), 0.0),
      self_seconds_(trace.kinds.size(), 0.0) {
  add_counters();
  add_spans();
  find_best_rate();
}

void RunDigest::add_counters() {
  std::array<int, trace::kCounterCount> columns{};
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = trace_.counter_index(trace::counter_name(static_cast<Counter>(i)));
  }
  for (const trace::CounterSet& set : trace_.counter_sets) {
    CounterRow row{};
    for (size_t i = 0; i < row.size(); ++i) {
      const auto column = static_cast<size_t>(columns[i]);
      row[i] = columns[i] >= 0 && column < set.values.size() ? set.values[column] : 0;
    }
    add_counters_of(set.rank, set.file, row);
  }
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
  std::vector<std::vector<std::pair<int64_t, int64_t>>> of_rank(trace_.ranks.size());
  const std::vector<int64_t> parents = parent_indices(trace_.events);
  for (size_t i = 0; i < trace_.events.size(); ++i) {
    const Event& event = trace_.events[i];
    const trace::KindInfo& kind = trace_.kinds[event.kind];
    if (!is_io(kind)) {
      continue;
    }
    const double seconds = static_cast<double>(event.end_ns - event.begin_ns) * kSecondsPerNs;
    of_rank[static_cast<size_t>(event.rank)].emplace_back(event.begin_ns, event.end_ns);
    self_seconds_[event.kind] += seconds;
    has_engine_spans_ |= kind.layer == trace::Layer::kEngine;
    has_library_spans_ |= kind.layer == trace::Layer::kLibrary;
    const uint16_t parent = parents[i] < 0 ? event.kind : trace_.events[static_cast<size_t>(parents[i])].kind;
    // What is in flight takes nothing from the call around it.
    if (parents[i] >= 0 && is_io(trace_.kinds[parent]) && !kind.overlaps) {
      self_seconds_[parent] -= seconds;
    }
    if (is_inner(kind) && !kind.overlaps && (parents[i] < 0 || !is_inner(trace_.kinds[parent]))) {
      inner_seconds_[inner_name(kind)] += seconds;
    }
    for (size_t phase = 0; phase < kPhaseCount && !has_phases; ++phase) {
      if (kind.layer == trace::Layer::kEngine && kind.name == phase_name(static_cast<Phase>(phase))) {
        phases_[static_cast<size_t>(event.rank)][phase] += seconds;
      }
    }
  }
  std::vector<std::pair<int64_t, int64_t>> all;
  for (size_t rank = 0; rank < of_rank.size(); ++rank) {
    const double in_phases = std::accumulate(phases_[rank].begin(), phases_[rank].end(), 0.0);
    all.insert(all.end(), of_rank[rank].begin(), of_rank[rank].end());
    io_seconds_[rank] = std::max(in_phases, static_cast<double>(union_length(of_rank[rank])) * kSecondsPerNs);
    io_wall_seconds_ = std::max(io_wall_seconds_, io_seconds_[rank]);
  }
  io_wall_seconds_ = std::max(io_wall_seconds_, static_cast<double>(union_length(all)) * kSecondsPerNs);
}

void RunDigest::find_best_rate() {
  constexpr int kWindows = 200;
  const double width = std::max(1e7, static_cast<double>(trace_.end_ns) / kWindows);
  std::vector<double> bytes(static_cast<size_t>(static_cast<double>(trace_.end_ns) / width) + 1, 0.0);
  for (const Event& event : trace_.events) {
    if (trace_.kinds[event.kind].layer != trace::Layer::kStorage || event.bytes <= 0 || event.peer >= 0) {
      continue;
    }
    const double length = std::max<double>(1, static_cast<double>(event.end_ns - event.begin_ns));
    auto window = static_cast<size_t>(static_cast<double>(event.begin_ns) / width);
    for (; window < bytes.size() && static_cast<double>(window) * width < static_cast<double>(event.end_ns); ++window) {
      const double from = std::max(static_cast<double>(window) * width, static_cast<double>(event.begin_ns));
      const double to = std::min(static_cast<double>(window + 1) * width, static_cast<double>(event.begin_ns) + length);
      bytes[window] += static_cast<double>(event.bytes) * std::max(0.0, to - from) / length;
    }
  }
  best_rate_ = *std::max_element(bytes.begin(), bytes.end()) / (width * kSecondsPerNs);
  best_rate_window_ = width * kSecondsPerNs;
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

double RunDigest::waiting_seconds() const {
  return static_cast<double>(total(Counter::kWaitNs)) * kSecondsPerNs;
}

double RunDigest::io_seconds() const {
  return std::accumulate(io_seconds_.begin(), io_seconds_.end(), 0.0);
}

std::vector<TimeShare> RunDigest::breakdown() const {
  std::vector<TimeShare> shares;
  if (has_engine_spans_ && dropped() == 0) {
    for (const auto& [name, seconds] : inner_seconds_) {
      shares.push_back({name, seconds});
    }
    add_calls_themselves(shares);
  } else if (phase_seconds() > 0 && (has_engine_spans_ || !has_library_spans_)) {
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      shares.push_back({phase_name(static_cast<Phase>(phase)), seconds(static_cast<Phase>(phase))});
    }
    shares.push_back({"outside the phases", std::max(0.0, io_seconds() - phase_seconds())});
  } else {
    for (size_t kind = 0; kind < self_seconds_.size(); ++kind) {
      shares.push_back({trace_.kinds[kind].name, self_seconds_[kind]});
    }
  }
  std::erase_if(shares, [](const TimeShare& share) { return share.seconds <= 0; });
  std::stable_sort(shares.begin(), shares.end(), [](const TimeShare& a, const TimeShare& b) { return a.seconds > b.seconds; });
  return shares;
}

// What calls do beside the phases inside them has no name but their own.
void RunDigest::add_calls_themselves(std::vector<TimeShare>& shares) const {
  double few = 0;
  for (size_t kind = 0; kind < self_seconds_.size(); ++kind) {
    if (is_inner(trace_.kinds[kind])) {
      continue;
    }
    if (self_seconds_[kind] < kLeastShareOfACall * io_seconds()) {
      few += std::max(0.0, self_seconds_[kind]);
    } else {
      shares.push_back({trace_.kinds[kind].name + kItself, self_seconds_[kind]});
    }
  }
  shares.push_back({"other calls", few});
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

}  // namespace stria::tool
