// Describes what stands out in a run, in plain language. Each finding says what is so, gives the
// numbers that show it, and says what to change.
//
// A rule is a function from the digest of a run to at most one finding. Its thresholds stand beside
// it and in docs/trace_report.md. The verdict on the whole run comes first. Where I/O is a small
// part of the run, or as fast as the storage allows, nothing needs to be done, and what the rules
// find are remarks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_digest.hpp"

namespace stria::tool {

/// Says what the storage could do at best, and where that number comes from.
struct StorageLimit {
  double bytes_per_second = 0;  ///< 0: not known
  std::string source;           ///< completes "… MB/s, "
};

/// The verdict on the run as a whole.
enum class Verdict {
  kLittle,       ///< I/O is a small part of the run
  kAtLimit,      ///< it moved data as fast as a limit that was given or measured
  kBelowLimit,   ///< it matters, and the storage can do more
  kNotCompared,  ///< it matters, and what the storage can do isn't known
};
Verdict verdict_of(const RunDigest& run, const StorageLimit& limit);

struct Finding {
  std::string rule;      ///< stable name, e.g. "packing"
  std::string text;      ///< what is so; contains a number
  std::string evidence;  ///< the numbers behind it
  std::string advice;    ///< what to change
  /// Roughly how much of the time in I/O it concerns, 0 to 1; findings are sorted by it.
  double weight = 0;
  bool is_remark = false;  ///< changing it would gain little of the run's time
};

/// Returns what all rules find: first what to change, in order of weight, then the remarks.
std::vector<Finding> find(const RunDigest& run, const StorageLimit& limit);

/// Names of all rules.
std::span<const char* const> rule_names();

}  // namespace stria::tool
