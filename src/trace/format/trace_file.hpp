// A trace as the tools see it: all ranks' events on one time axis, with their names,
// counters and facts.
//
// Problem: the parts of a file are as each rank recorded them. Each has its own clock and its own
// numbers for names, and may be cut off by a crash.
// Method: the parts are read section by section, and everything is checked. Names are united, and
// clocks are corrected along the tree in which they were compared (clocks.hpp).
// Memory: 64 bytes per event. Format: docs/formats/trace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stria/status.hpp"
#include "trace/events/event.hpp"

namespace stria::trace {

/// A span of one rank. Times count from the beginning of the run, on rank 0's clock.
struct Event {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  ///< at least begin_ns
  int64_t bytes = -1;  ///< -1: none
  int64_t offset = -1;
  uint32_t id = 0;      ///< unique on its rank
  uint32_t parent = 0;  ///< id of the span around it on the same rank; 0: none
  uint16_t kind = 0;    ///< index of TraceFile::kinds
  uint16_t thread = 0;  ///< from 0 on each rank
  int32_t rank = 0;
  int32_t file = -1;     ///< index of TraceFile::files; -1: none
  int32_t dataset = -1;  ///< index of TraceFile::datasets; -1: none
  int32_t peer = -1;     ///< rank at the other end; -1: none
  uint32_t count = 1;    ///< pieces of a list request, transfers of a commit …
};

struct RankInfo {
  bool present = false;   ///< the trace holds a part of this rank
  bool complete = false;  ///< its part has an end: the rank did not die, and nothing is cut off
  int node = -1;          ///< from 0; -1: not known
  std::string host;
  int64_t begin_ns = 0;  ///< when the rank began to record
  /// When it stopped; in an incomplete part, the end of its last event.
  int64_t end_ns = 0;
  int64_t dropped = 0;  ///< records that could not be kept
  /// Bound of the error of its corrected times; -1: its clock was not compared with rank 0's.
  int64_t clock_error_ns = -1;
};

struct CounterSet {
  int32_t rank = 0;
  int32_t file = -1;
  std::vector<int64_t> values;  ///< one for each of TraceFile::counters
};

/// A fact with its name: hints in effect ("hint cb_nodes"), "method", "reason", …
struct NamedFact {
  int32_t rank = 0;
  int32_t file = -1;  ///< -1: of the run
  std::string key;
  std::string value;
};

class TraceFile {
 public:
  /// Reads a trace file, or what is left of one. kNotFound, kIo, or kFormat when nothing of
  /// it can be used.
  static Result<TraceFile> read(const std::string& path);
  /// Does the same for bytes in memory.
  static Result<TraceFile> parse(std::span<const std::byte> bytes);

  std::string program;
  std::string command;
  int64_t start_unix_ns = 0;  ///< time of day at the run's time 0
  int64_t end_ns = 0;         ///< the end of the last rank: the run lasted from 0 to this
  uint32_t level = 0;         ///< the highest level of a rank: stria::trace::Level

  std::vector<KindInfo> kinds;
  std::vector<std::string> files;
  std::vector<std::string> datasets;
  std::vector<std::string> counters;  ///< names
  std::vector<RankInfo> ranks;        ///< by rank
  /// The events come in order of rank, thread and begin, a parent before its children.
  std::vector<Event> events;
  std::vector<CounterSet> counter_sets;
  std::vector<NamedFact> facts;
  std::vector<std::string> warnings;  ///< say what was cut off or could not be used

  int rank_count() const { return static_cast<int>(ranks.size()); }
  int node_count() const;
  /// Returns the index of a counter's name; -1 when this trace has no counter of that name.
  int counter_index(const std::string& name) const;
  /// Returns the value of a fact on the lowest rank that has it; empty when none has.
  std::string fact(int32_t file, const std::string& key) const;
};

}  // namespace stria::trace
