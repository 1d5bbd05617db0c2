// What a report says of a run, in numbers: counters summed by rank and by file, times by phase,
// time in I/O, bytes moved.
//
// Counters are always on, so that everything but the time in I/O is known even without spans. The
// times of phases come from the counters, or from the engine's spans where a trace has no counters.
// time_parts.hpp says how the time in I/O is divided. A trace of wrappers around other libraries
// has no counters; they are made from its spans. What commits do in the background is no I/O of
// their ranks; that the program waits for them is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/time_parts.hpp"
#include "stria/phases.hpp"
#include "trace/counters/counters.hpp"
#include "trace/counters/file_counters.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// The key of the fact that tells which program's log a trace was made of.
inline constexpr const char* kImportedFrom = "imported from";

using CounterRow = std::array<int64_t, trace::kCounterCount>;

/// One part of the time in I/O.
struct TimeShare {
  std::string name;
  double seconds = 0;  ///< summed over the ranks
};

class RunDigest {
 public:
  /// Keeps a reference to `trace`.
  explicit RunDigest(const trace::TraceFile& trace);

  const trace::TraceFile& trace() const { return trace_; }
  int ranks() const { return trace_.rank_count(); }
  double run_seconds() const { return static_cast<double>(trace_.end_ns) * 1e-9; }

  /// A counter over all ranks and files; a maximum for counters that are not sums.
  int64_t total(trace::Counter counter) const { return total_[static_cast<size_t>(counter)]; }
  int64_t of_rank(trace::Counter counter, int rank) const;
  int64_t of_file(trace::Counter counter, int file) const;
  /// The counter of every rank.
  std::vector<int64_t> by_rank(trace::Counter counter) const;
  /// Files that any rank opened or moved bytes of, by number.
  const std::vector<int>& files() const { return files_; }
  /// The number of pairs (rank, file) where the rank opened the file.
  int64_t opened_pairs() const { return opened_pairs_; }
  /// The most common sizes of pieces with their numbers of pieces, over all ranks and files, the
  /// most frequent first. For each file a rank counts only its four most common sizes.
  std::vector<std::pair<int64_t, int64_t>> common_sizes() const;

  /// Seconds in a phase, summed over the ranks.
  double seconds(Phase phase) const;
  double seconds(Phase phase, int rank) const;
  /// Seconds in which a rank, or all ranks together, wrote or read: in the phases of these names,
  /// or, where that is longer, in requests to the storage. Independent calls of MPI-IO have no
  /// phases. What the background wrote is not among them.
  double moving_seconds(trace::Direction direction, int rank) const;
  double moving_seconds(trace::Direction direction) const;
  /// The seconds of writing and reading as a share of the time in I/O; at most 1.
  double moving_share() const;
  double moving_share(trace::Direction direction) const;
  /// Seconds in which ranks stood still for other ranks, for turns or for a request of their own,
  /// within phases and between them, summed over the ranks. Waits for commits in the background are
  /// not among them.
  double waiting_seconds() const;
  /// Seconds of the clock in which commits in the background were at work on any rank. Without
  /// spans it is an estimate: the ranks of a node work one after the other.
  double background_wall_seconds() const;
  /// Seconds for which a rank waited for them.
  double background_wait_seconds(int rank) const;
  /// Seconds in I/O: summed over the ranks, of one rank, and of the clock while any
  /// rank was in I/O.
  double io_seconds() const;
  double io_seconds(int rank) const { return io_seconds_[static_cast<size_t>(rank)]; }
  double io_wall_seconds() const { return io_wall_seconds_; }
  /// The number of ranks that wrote any byte; at least 1.
  int writers() const;
  /// Where all of the time in I/O went, longest part first.
  std::vector<TimeShare> breakdown() const;
  /// The sum of these parts.
  double breakdown_seconds() const;
  /// Seconds in the part of that name, summed over the ranks or of one rank; 0 when the breakdown
  /// has no such part.
  double part(std::string_view name) const;
  double part(std::string_view name, int rank) const;
  /// Time in I/O as a share of all ranks' time.
  double io_share() const;
  /// Useful bytes per second of the time in which any rank was in I/O.
  double useful_rate() const;

  /// The bytes that the application put or got, or those that the storage moved where the former
  /// were not counted.
  int64_t useful_bytes() const;
  int64_t dropped() const;
  /// What the trace knows of the inside of a call.
  enum class Detail {
    kCalls,     ///< nothing, or the engine's phases
    kRequests,  ///< each request to the storage: STRIA_TRACE=full
    kImported,  ///< as much as the log of another program told
  };
  Detail detail() const;
  /// The file with the largest sum of two counters, as of reading and writing; -1 where all are 0.
  int file_of_most(trace::Counter one, trace::Counter other) const;

 private:
  void add_counters();
  void add_counters_of(int rank, int file, const CounterRow& row);
  void add_spans();
  double seconds_of_counters(int rank) const;
  void add_parts(const std::vector<bool>& in_io);
  void add_phases_of(const trace::Event& event);
  double phase_seconds() const;

  const trace::TraceFile& trace_;
  CounterRow total_{};
  std::vector<CounterRow> rank_rows_, file_rows_;
  std::vector<int> files_;
  int64_t opened_pairs_ = 0;
  std::map<int64_t, int64_t> sizes_;
  std::vector<std::array<double, kPhaseCount>> phases_;  ///< by rank
  std::vector<double> io_seconds_;                       ///< by rank
  double io_wall_seconds_ = 0;
  bool has_engine_spans_ = false;
  bool has_request_times_ = false;  ///< the counters are Stria's own, and no import
  bool has_storage_spans_ = false;
  bool has_library_spans_ = false;
  std::vector<PartSeconds> parts_;  ///< by rank
};

}  // namespace stria::tool
