// Describes what a report says of a run, in numbers: its counters, its times by phase, and the time
// in I/O with its parts.
//
// time_parts.hpp says how the time in I/O is divided. What commits do in the background is no I/O
// of their ranks; that the program waits for them is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/counter_sums.hpp"
#include "report/phase_times.hpp"
#include "report/time_parts.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// The key of the fact that tells which program's log a trace was made of.
inline constexpr const char* kImportedFrom = "imported from";

/// One part of the time in I/O.
struct TimeShare {
  std::string name;
  double seconds = 0;  ///< summed over the ranks
};

class RunDigest {
 public:
  /// Keeps a reference to `trace`.
  explicit RunDigest(const trace::TraceFile& trace);
  RunDigest(const RunDigest&) = delete;
  RunDigest& operator=(const RunDigest&) = delete;

  const trace::TraceFile& trace() const { return trace_; }
  int ranks() const { return trace_.rank_count(); }
  double run_seconds() const { return static_cast<double>(trace_.end_ns) * 1e-9; }
  const CounterSums& counters() const { return counters_; }
  const PhaseTimes& phases() const { return phases_; }

  /// Returns the seconds of writing and reading as a share of the time in I/O; at most 1.
  double moving_share() const;
  double moving_share(trace::Direction direction) const;
  /// Seconds in which ranks stood still for other ranks, for turns or for a request of their own,
  /// within phases and between them, summed over the ranks. Waits for commits in the background are
  /// not among them.
  double waiting_seconds() const;
  /// Seconds of the clock in which commits in the background were at work on any rank. Without
  /// spans it is an estimate: the ranks of a node work one after the other.
  double background_wall_seconds() const;
  /// Returns the seconds for which a rank waited for them.
  double background_wait_seconds(int rank) const;
  /// Returns the seconds in I/O: summed over the ranks, of one rank, and of the clock while any
  /// rank was in I/O.
  double io_seconds() const;
  double io_seconds(int rank) const { return io_seconds_[static_cast<size_t>(rank)]; }
  double io_wall_seconds() const { return io_wall_seconds_; }
  /// Returns where all of the time in I/O went, longest part first.
  std::vector<TimeShare> breakdown() const;
  /// Returns the sum of these parts.
  double breakdown_seconds() const;
  /// Seconds in the part of that name, summed over the ranks or of one rank; 0 when the breakdown
  /// has no such part.
  double part(std::string_view name) const;
  double part(std::string_view name, int rank) const;
  /// Time in I/O as a share of all ranks' time.
  double io_share() const;
  /// Useful bytes per second of the time in which any rank was in I/O.
  double useful_rate() const;

  int64_t dropped() const;
  /// Says what the trace knows of the inside of a call.
  enum class Detail {
    kCalls,     ///< nothing, or the engine's phases
    kRequests,  ///< each request to the storage: STRIA_TRACE=full
    kImported,  ///< the log of another program told this much
  };
  Detail detail() const;

 private:
  RunDigest(const trace::TraceFile& trace, const std::vector<bool>& in_io);
  void add_spans(const std::vector<bool>& in_io);
  double seconds_of_counters(int rank) const;
  void add_parts(const std::vector<bool>& in_io);

  const trace::TraceFile& trace_;
  CounterSums counters_;
  PhaseTimes phases_;
  std::vector<double> io_seconds_;  ///< by rank
  double io_wall_seconds_ = 0;
  bool has_engine_spans_ = false;
  bool has_storage_spans_ = false;
  bool has_library_spans_ = false;
  std::vector<PartSeconds> parts_;  ///< by rank
};

}  // namespace stria::tool
