// The numbers of a trace that `stria trace stats`, `diff` and `report` show: how often, how long,
// how much, how evenly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/counters/counters.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// One kind of span. The seconds of nested spans count in each of them; `own_seconds` leaves out
/// the spans inside.
struct OperationRow {
  std::string name;
  trace::Layer layer = trace::Layer::kApp;
  int64_t count = 0;   ///< over all ranks
  double seconds = 0;  ///< over all ranks
  double own_seconds = 0;
  double longest_seconds = 0;
  int64_t bytes = 0;   ///< 0 where spans of the kind have no bytes
  int rank_count = 0;  ///< ranks with spans of this kind
};

/// Says how evenly something is spread over ranks.
struct Spread {
  double mean = 0;  ///< over all ranks
  double minimum = 0;
  double maximum = 0;
  int slowest_rank = 0;  ///< with the maximum
  /// Returns the maximum as a multiple of the mean; 1 is even.
  double imbalance() const { return mean > 0 ? maximum / mean : 1; }
};

struct PhaseRow {
  std::string name;
  Spread seconds;  ///< a rank
};

/// Counters of one file, over all ranks.
struct FileRow {
  int file = -1;
  std::string path;
  /// The values stand by trace::Counter: sums, or maxima where a sum means nothing.
  std::vector<int64_t> values;
  std::vector<std::pair<int64_t, int64_t>> common_sizes;    ///< size, count; at most four
  std::vector<std::pair<int64_t, int64_t>> common_strides;  ///< distance, count
  int rank_count = 0;                                       ///< ranks that opened it
  int writer_count = 0;                                     ///< ranks that wrote bytes of it
  std::vector<int> aggregators;
  std::map<std::string, std::string> facts;  ///< "method", "hint cb_nodes" …

  int64_t operator[](trace::Counter counter) const { return values[static_cast<size_t>(counter)]; }
};

struct Summary {
  double program_seconds = 0;
  int rank_count = 0;
  int node_count = 0;
  int64_t event_count = 0;
  int64_t dropped = 0;
  int incomplete_ranks = 0;
  std::vector<OperationRow> operations;  ///< by layer, then falling time
  std::vector<PhaseRow> phases;          ///< in the order of stria::Phase
  /// Seconds that a rank waited, within phases and between them.
  Spread waiting;
  std::vector<FileRow> files;   ///< by falling bytes moved
  std::vector<int64_t> totals;  ///< by trace::Counter, over all files
  std::vector<std::pair<int64_t, int64_t>> common_sizes;
  Spread bytes_written;     ///< a rank
  Spread aggregator_bytes;  ///< written, an aggregator; the mean is over aggregators
  int writer_count = 0;
  int aggregator_count = 0;
  double write_seconds = 0;  ///< in the write phase, mean of the ranks that wrote
  double read_seconds = 0;

  int64_t operator[](trace::Counter counter) const { return totals[static_cast<size_t>(counter)]; }
};

Summary summarize(const trace::TraceFile& trace);

}  // namespace stria::tool
