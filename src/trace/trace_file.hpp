// A trace as the tools see it: all ranks' events on one time axis, with their names, counters and facts.
//
// Problem: the parts of a file are as each rank recorded them: clocks of their own, names numbered by themselves, perhaps cut
// off by a crash. Method: read the parts section by section, checking everything; unite the names; correct the clocks along the
// tree in which they were compared (clocks.hpp). Memory: 64 bytes an event. Format: docs/formats/trace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stria/status.hpp"
#include "trace/event.hpp"

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
  bool complete = false;  ///< its part has its end: the rank did not die, nothing is cut off
  int node = -1;          ///< from 0; -1: not known
  std::string host;
  int64_t begin_ns = 0;         ///< when the rank began to record
  int64_t end_ns = 0;           ///< when it stopped; of an incomplete part the end of its last event
  int64_t dropped = 0;          ///< records that could not be kept
  int64_t clock_error_ns = -1;  ///< bound of the error of its corrected times; -1: never compared with rank 0
};

struct CounterSet {
  int32_t rank = 0;
  int32_t file = -1;
  std::vector<int64_t> values;  ///< as TraceFile::counters
};

/// What is known by name: hints in effect ("hint cb_nodes"), "method", "reason", …
struct NamedFact {
  int32_t rank = 0;
  int32_t file = -1;  ///< -1: of the run
  std::string key;
  std::string value;
};

class TraceFile {
 public:
  /// Reads a trace file, or what is left of one. kNotFound, kIo, kFormat when nothing of it can be used.
  static Result<TraceFile> read(const std::string& path);
  /// The same of bytes in memory.
  static Result<TraceFile> parse(std::span<const std::byte> bytes);

  std::string program;
  std::string command;
  int64_t start_unix_ns = 0;  ///< time of day at the run's time 0
  int64_t end_ns = 0;         ///< of the last rank: the run lasted from 0 to this
  uint32_t level = 0;         ///< highest that a rank recorded at: stria::trace::Level

  std::vector<KindInfo> kinds;
  std::vector<std::string> files;
  std::vector<std::string> datasets;
  std::vector<std::string> counters;  ///< names
  std::vector<RankInfo> ranks;        ///< by rank
  std::vector<Event> events;          ///< by rank, thread, begin, and a parent before its children
  std::vector<CounterSet> counter_sets;
  std::vector<NamedFact> facts;
  std::vector<std::string> warnings;  ///< what was cut off or could not be used

  int rank_count() const { return static_cast<int>(ranks.size()); }
  int node_count() const;
  /// Index of a counter's name; -1 when this trace has none of that name.
  int counter_index(const std::string& name) const;
  /// The value of a fact on the lowest rank that has it; empty when none has.
  std::string fact(int32_t file, const std::string& key) const;
};

}  // namespace stria::trace
