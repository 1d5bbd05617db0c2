// The counters of a trace, summed by rank and by file.
//
// Counters are always on, so that these sums are known even without spans. A trace of wrappers
// around other libraries has no counters; they are made from its spans.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/counters/counters.hpp"
#include "trace/counters/file_counters.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

class CounterSums {
 public:
  explicit CounterSums(const trace::TraceFile& trace);

  /// Returns a counter over all ranks and files; a maximum for counters that are not sums.
  int64_t total(trace::Counter counter) const { return total_[static_cast<size_t>(counter)]; }
  int64_t of_rank(trace::Counter counter, int rank) const;
  int64_t of_file(trace::Counter counter, int file) const;
  /// Returns the counter of every rank.
  std::vector<int64_t> by_rank(trace::Counter counter) const;
  /// Returns the files that any rank opened or moved bytes of, by number.
  const std::vector<int>& files() const { return files_; }
  /// Returns the file with the largest sum of two counters, as of reading and writing; -1 where all
  /// are 0.
  int file_of_most(trace::Counter one, trace::Counter other) const;
  /// Returns the number of pairs (rank, file) where the rank opened the file.
  int64_t opened_pairs() const { return opened_pairs_; }
  /// Returns the most common sizes of pieces with their numbers of pieces, over all ranks and
  /// files, the most frequent first. For each file a rank counts only its four most common sizes.
  std::vector<std::pair<int64_t, int64_t>> common_sizes() const;
  /// Returns the bytes that the application put or got, or those that the storage moved where the
  /// former were not counted.
  int64_t useful_bytes() const;
  /// Returns the number of ranks that wrote any byte; at least 1.
  int writers() const;
  /// Tells whether the counters are Stria's own, and no import.
  bool has_request_times() const { return has_request_times_; }

 private:
  using Row = std::array<int64_t, trace::kCounterCount>;

  void add(int rank, int file, const Row& row);
  static void add_row(Row& sum, const Row& row);

  Row total_{};
  std::vector<Row> rank_rows_, file_rows_;
  std::vector<int> files_;
  int64_t opened_pairs_ = 0;
  std::map<int64_t, int64_t> sizes_;
  bool has_request_times_ = false;
};

}  // namespace stria::tool
