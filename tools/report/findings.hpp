// What stands out in a run, in plain language: each finding says what is so, the numbers that show it, and what to change.
//
// A rule is a function from the digest of a run to at most one finding. Its thresholds stand beside it and in
// docs/trace_report.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_digest.hpp"

namespace stria::tool {

/// What the storage could do at best, and where that number comes from.
struct StorageLimit {
  double bytes_per_second = 0;  ///< 0: not known
  std::string source;           ///< completes "… MB/s, "
  bool is_measured = false;     ///< given or probed, not taken from the run itself
};

struct Finding {
  std::string rule;      ///< stable name, e.g. "packing"
  std::string text;      ///< what is so; contains a number
  std::string evidence;  ///< the numbers behind it
  std::string advice;    ///< what to change
  double weight = 0;     ///< about how much of the time in I/O it concerns, 0 to 1: findings are sorted by it
};

/// All findings of all rules, weightiest first.
std::vector<Finding> find(const RunDigest& run, const StorageLimit& limit);

/// Names of all rules.
std::span<const char* const> rule_names();

}  // namespace stria::tool
