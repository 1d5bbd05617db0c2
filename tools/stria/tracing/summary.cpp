#include "tracing/summary.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "stria/phases.hpp"
#include "trace/format/counter_view.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using trace::CounterSet;
using trace::CounterView;
using trace::Event;
using trace::TraceFile;

double seconds(int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

Spread spread_of(const std::vector<double>& by_rank) {
  Spread spread;
  if (by_rank.empty()) {
    return spread;
  }
  spread.minimum = by_rank[0];
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    spread.mean += by_rank[rank] / static_cast<double>(by_rank.size());
    spread.minimum = std::min(spread.minimum, by_rank[rank]);
    if (by_rank[rank] > spread.maximum) {
      spread.maximum = by_rank[rank];
      spread.slowest_rank = static_cast<int>(rank);
    }
  }
  return spread;
}

/// The most common entries of several lists of most common entries.
class Common {
 public:
  void add(const CounterView& view, const CounterSet& set, Counter first) {
    for (int place = 0; place < 4; ++place) {
      const auto value = static_cast<Counter>(static_cast<int>(first) + 2 * place);
      const int64_t count = view.value(set, static_cast<Counter>(static_cast<int>(value) + 1));
      if (count > 0) {
        counts_[view.value(set, value)] += count;
      }
    }
  }
  std::vector<std::pair<int64_t, int64_t>> top() const {
    std::vector<std::pair<int64_t, int64_t>> list(counts_.begin(), counts_.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    list.resize(std::min<size_t>(list.size(), 4));
    return list;
  }

 private:
  std::map<int64_t, int64_t> counts_;
};

void accumulate(const CounterView& view, const CounterSet& set, std::vector<int64_t>& totals) {
  totals.resize(trace::kCounterCount);
  for (int i = 0; i < trace::kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    int64_t& total = totals[static_cast<size_t>(i)];
    const int64_t value = view.value(set, counter);
    total = trace::counter_is_sum(counter) ? total + value : std::max(total, value);
  }
}

std::vector<OperationRow> operations_of(const TraceFile& trace) {
  std::vector<OperationRow> rows(trace.kinds.size());
  std::vector<std::set<int>> ranks(trace.kinds.size());
  std::unordered_map<uint64_t, size_t> event_of_id;
  std::vector<int64_t> inside_ns(trace.events.size());
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    event_of_id[(static_cast<uint64_t>(event.rank) << 32) | event.id] = i;
  }
  for (const Event& event : trace.events) {
    const auto parent = event_of_id.find((static_cast<uint64_t>(event.rank) << 32) | event.parent);
    if (event.parent != 0 && parent != event_of_id.end() && !trace.kinds[event.kind].overlaps) {
      inside_ns[parent->second] += event.end_ns - event.begin_ns;
    }
  }
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    OperationRow& row = rows[event.kind];
    const int64_t ns = event.end_ns - event.begin_ns;
    ++row.count;
    row.seconds += seconds(ns);
    row.own_seconds += seconds(std::max<int64_t>(ns - inside_ns[i], 0));
    row.longest_seconds = std::max(row.longest_seconds, seconds(ns));
    row.bytes += std::max<int64_t>(event.bytes, 0);
    ranks[event.kind].insert(event.rank);
  }
  for (size_t kind = 0; kind < rows.size(); ++kind) {
    rows[kind].name = trace.kinds[kind].name;
    rows[kind].layer = trace.kinds[kind].layer;
    rows[kind].rank_count = static_cast<int>(ranks[kind].size());
  }
  std::erase_if(rows, [](const OperationRow& row) { return row.count == 0; });
  std::stable_sort(rows.begin(), rows.end(), [](const OperationRow& a, const OperationRow& b) {
    return a.layer != b.layer ? a.layer < b.layer : a.seconds > b.seconds;
  });
  return rows;
}

std::vector<FileRow> files_of(const TraceFile& trace, const CounterView& view) {
  std::map<int, FileRow> rows;
  std::map<int, Common> sizes, strides;
  for (const CounterSet& set : trace.counter_sets) {
    FileRow& row = rows[set.file];
    row.file = set.file;
    accumulate(view, set, row.values);
    sizes[set.file].add(view, set, Counter::kCommonSize1);
    strides[set.file].add(view, set, Counter::kCommonStride1);
    row.rank_count += view.value(set, Counter::kOpens) > 0 ? 1 : 0;
    row.writer_count += view.value(set, Counter::kBytesWritten) > 0 ? 1 : 0;
    if (view.value(set, Counter::kAggregated) > 0) {
      row.aggregators.push_back(set.rank);
    }
  }
  std::vector<FileRow> list;
  for (auto& [file, row] : rows) {
    row.path = file < 0 ? "(no file)" : trace.files[static_cast<size_t>(file)];
    row.common_sizes = sizes[file].top();
    row.common_strides = strides[file].top();
    for (const trace::NamedFact& fact : trace.facts) {
      if (fact.file == file) {
        row.facts.emplace(fact.key, fact.value);
      }
    }
    list.push_back(std::move(row));
  }
  const auto moved = [](const FileRow& row) { return row[Counter::kBytesRead] + row[Counter::kBytesWritten]; };
  std::stable_sort(list.begin(), list.end(), [&](const FileRow& a, const FileRow& b) { return moved(a) > moved(b); });
  return list;
}

void summarize_ranks(const TraceFile& trace, const CounterView& view, Summary& summary) {
  const auto ranks = static_cast<size_t>(trace.rank_count());
  std::vector<double> written(ranks);
  std::vector<double> waiting(ranks);
  std::vector<bool> aggregates(ranks), reads(ranks);
  std::vector<std::vector<double>> phases(kPhaseCount, std::vector<double>(ranks));
  Common sizes;
  for (const CounterSet& set : trace.counter_sets) {
    const auto rank = static_cast<size_t>(set.rank);
    accumulate(view, set, summary.totals);
    sizes.add(view, set, Counter::kCommonSize1);
    written[rank] += static_cast<double>(view.value(set, Counter::kBytesWritten));
    waiting[rank] += seconds(view.value(set, Counter::kWaitNs));
    reads[rank] = reads[rank] || view.value(set, Counter::kBytesRead) > 0;
    aggregates[rank] = aggregates[rank] || view.value(set, Counter::kAggregated) > 0;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      const auto counter = static_cast<Counter>(static_cast<size_t>(Counter::kOpenNs) + phase);
      phases[phase][rank] += seconds(view.value(set, counter));
    }
  }
  summary.common_sizes = sizes.top();
  summary.bytes_written = spread_of(written);
  summary.waiting = spread_of(waiting);
  std::vector<double> of_aggregators;
  int reader_count = 0;
  const std::vector<double>& writing = phases[static_cast<size_t>(Phase::kWrite)];
  const std::vector<double>& reading = phases[static_cast<size_t>(Phase::kRead)];
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (aggregates[rank]) {
      of_aggregators.push_back(written[rank]);
    }
    if (written[rank] > 0) {
      ++summary.writer_count;
      summary.write_seconds += writing[rank];
    }
    if (reads[rank]) {
      ++reader_count;
      summary.read_seconds += reading[rank];
    }
  }
  summary.write_seconds /= std::max(summary.writer_count, 1);
  summary.read_seconds /= std::max(reader_count, 1);
  summary.aggregator_count = static_cast<int>(of_aggregators.size());
  summary.aggregator_bytes = spread_of(of_aggregators);
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    summary.phases.push_back({phase_name(static_cast<Phase>(phase)), spread_of(phases[phase])});
  }
}

}  // namespace

Summary summarize(const TraceFile& trace) {
  Summary summary;
  summary.program_seconds = seconds(trace.end_ns);
  summary.rank_count = trace.rank_count();
  summary.node_count = trace.node_count();
  summary.event_count = static_cast<int64_t>(trace.events.size());
  for (const trace::RankInfo& rank : trace.ranks) {
    summary.dropped += rank.dropped;
    summary.incomplete_ranks += rank.complete ? 0 : 1;
  }
  const CounterView view(trace);
  summary.totals.resize(trace::kCounterCount);
  summary.operations = operations_of(trace);
  summary.files = files_of(trace, view);
  summarize_ranks(trace, view, summary);
  return summary;
}

}  // namespace stria::tool
