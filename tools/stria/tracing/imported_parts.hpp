// Makes the ranks' parts of a trace from what another tool has counted and timed.
//
// Problem: some tools keep one record of a file for all ranks together, but a trace has a part of
// each rank.
// Method: sums are shared out evenly, so that totals stay exact. The slowest and the fastest rank
// get the time and the bytes that the record says they had. Maxima go to every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/counters/counters.hpp"
#include "trace/format/part.hpp"

namespace stria::tool {

/// The rank of a record of all ranks together.
inline constexpr int32_t kAllRanks = -1;

/// Says what a record of all ranks says of one of them.
struct KnownRank {
  int32_t rank = 0;
  int64_t ns = 0;     ///< in all phases
  int64_t bytes = 0;  ///< read and written
};

struct ImportedRecord {
  int32_t file = 0;                       ///< index of ImportedRun::files
  int32_t rank = 0;                       ///< or kAllRanks
  std::map<std::string, int64_t> values;  ///< by counter_name()
  std::vector<KnownRank> known;
};

/// A request or a call. Times count from the beginning of the run.
struct ImportedSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t offset = -1;
  int64_t bytes = 0;
  int32_t kind = 0;  ///< index of imported_kinds()
  int32_t rank = 0;
  int32_t file = 0;
};

struct ImportedFact {
  int32_t file = 0;
  std::string key;
  std::string value;
};

struct ImportedRun {
  std::string command;
  int32_t rank_count = 1;
  int64_t start_unix_ns = 0;
  int64_t run_ns = 0;
  std::vector<std::string> files;
  std::map<int32_t, std::string> hosts;  ///< by rank, where known
  std::vector<ImportedRecord> records;
  std::vector<ImportedSpan> spans;
  std::vector<ImportedFact> facts;
};

/// Writes and reads of the storage, then calls of MPI-IO that write and read.
std::vector<trace::KindInfo> imported_kinds();

struct ImportedTrace {
  std::vector<std::byte> bytes;  ///< the bytes of the file
  /// Ranks whose threads were in calls at the same time: their times in phases, which add up to
  /// more than the run, are scaled down to it.
  int32_t overlapping_ranks = 0;
};

/// A request lies inside the call of its rank to its file that was under way.
/// \pre ranks, files and kinds are in range
ImportedTrace trace_of(const ImportedRun& run);

}  // namespace stria::tool
