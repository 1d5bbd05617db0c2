#include "report/span_counters.hpp"

#include <algorithm>
#include <map>

#include "trace/counters/counters.hpp"
#include "viewer/moving_kinds.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using trace::Event;

// Chooses the counter of reads or that of writes.
Counter either(Moves moves, Counter read, Counter write) {
  return moves == Moves::kRead ? read : write;
}

// Builds the counters of one file on one rank.
class RowBuilder {
 public:
  void add(Counter counter, int64_t value) { row_[static_cast<size_t>(counter)] += value; }
  void raise(Counter counter, int64_t value) {
    row_[static_cast<size_t>(counter)] = std::max(row_[static_cast<size_t>(counter)], value);
  }

  void request(const Event& event, Moves moves) {
    const auto pieces = static_cast<int64_t>(event.count);
    const int64_t piece_bytes = pieces > 0 ? event.bytes / pieces : event.bytes;
    const Counter sizes = either(moves, Counter::kReadSizes0, Counter::kWriteSizes0);
    add(either(moves, Counter::kReadRequests, Counter::kWriteRequests), 1);
    add(either(moves, Counter::kReadPieces, Counter::kWritePieces), pieces);
    add(either(moves, Counter::kBytesRead, Counter::kBytesWritten), event.bytes);
    add(static_cast<Counter>(static_cast<int>(sizes) + trace::size_bin(piece_bytes)), pieces);
    raise(either(moves, Counter::kMaxPiecesOfRead, Counter::kMaxPiecesOfWrite), pieces);
    add(either(moves, Counter::kReadRequestNs, Counter::kWriteRequestNs), event.end_ns - event.begin_ns);
    sizes_[piece_bytes] += pieces;
    int64_t& last_end = last_end_[moves == Moves::kRead];
    if (event.offset < 0 || event.offset >= last_end) {
      add(either(moves, Counter::kSequentialReads, Counter::kSequentialWrites), pieces);
    }
    if (event.offset >= 0) {
      last_end = event.offset + event.bytes;
      raise(either(moves, Counter::kMaxReadEnd, Counter::kMaxWriteEnd), last_end);
    }
  }

  std::vector<int64_t> values() const {
    std::vector<int64_t> values = row_;
    std::vector<std::pair<int64_t, int64_t>> common(sizes_.begin(), sizes_.end());
    std::stable_sort(common.begin(), common.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (size_t i = 0; i < std::min<size_t>(4, common.size()); ++i) {
      values[static_cast<size_t>(Counter::kCommonSize1) + 2 * i] = common[i].first;
      values[static_cast<size_t>(Counter::kCommonSize1) + 2 * i + 1] = common[i].second;
    }
    return values;
  }

 private:
  std::vector<int64_t> row_ = std::vector<int64_t>(trace::kCounterCount, 0);
  std::map<int64_t, int64_t> sizes_;
  int64_t last_end_[2] = {0, 0};
};

bool contains(const std::string& name, const char* part) {
  return name.find(part) != std::string::npos;
}

}  // namespace

std::vector<trace::CounterSet> counters_of_spans(const trace::TraceFile& trace) {
  const std::vector<Moves> moves = moving_kinds(trace);
  std::map<std::pair<int32_t, int32_t>, RowBuilder> rows;
  for (const Event& event : trace.events) {
    const trace::KindInfo& kind = trace.kinds[event.kind];
    RowBuilder& row = rows[{event.rank, event.file}];
    if (moves[event.kind] != Moves::kNothing && event.bytes > 0) {
      row.request(event, moves[event.kind]);
    }
    if (kind.layer == trace::Layer::kApp && event.bytes > 0 && moves_of(kind.name) != Moves::kNothing) {
      const Moves direction = moves_of(kind.name);
      row.add(either(direction, Counter::kGets, Counter::kPuts), 1);
      row.add(either(direction, Counter::kBytesGot, Counter::kBytesPut), event.bytes);
    }
    if (kind.layer == trace::Layer::kStorage) {
      row.add(Counter::kOpens, contains(kind.name, "open"));
      row.add(Counter::kSyncs, contains(kind.name, "sync"));
    }
  }
  std::vector<trace::CounterSet> sets;
  for (const auto& [key, row] : rows) {
    sets.push_back({key.first, key.second, row.values()});
  }
  return sets;
}

}  // namespace stria::tool
