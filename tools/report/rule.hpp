// Holds what the files of rules share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/findings.hpp"
#include "report/text.hpp"

namespace stria::tool {

using MaybeFinding = std::optional<Finding>;

struct Rule {
  const char* name;
  MaybeFinding (*look)(const RunDigest& run, const StorageLimit& limit);
};

/// Returns the rules, by what they look at.
std::span<const Rule> limit_rules();
std::span<const Rule> time_rules();
std::span<const Rule> together_rules();
std::span<const Rule> request_rules();
std::span<const Rule> excess_rules();
std::span<const Rule> balance_rules();
std::span<const Rule> usage_rules();
std::span<const Rule> background_rules();

/// Less I/O than this is not worth a finding.
inline constexpr double kLeastSeconds = 0.01;
inline constexpr int64_t kLeastBytes = 1 << 20;

/// Returns part / whole, 0 when there is no whole.
inline double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
inline double share_of(int64_t part, int64_t whole) {
  return share_of(static_cast<double>(part), static_cast<double>(whole));
}

/// Returns the share of a time that a part of it takes: at most 1, though the two may be measured
/// differently.
inline double time_share(double part, double whole) {
  return std::min(1.0, share_of(part, whole));
}

/// What to try where the program waits for commits in the background.
inline constexpr const char* kShorterBackgroundWait =
    "Compute longer between two checkpoints, so that one is written before the next one waits for it. Where the "
    "storage takes more, let more ranks of a node write (hint stria_staging_writers), lift stria_staging_rate, or stage on a "
    "faster place (hint stria_staging).";

/// Tells whether most transfers of a file were made by all ranks together, by two-phase.
bool is_mostly_together(const RunDigest& run, int file);

/// Returns the value of the first fact of that name, of any file; "" when there is none.
std::string fact_of(const RunDigest& run, const std::string& key);

}  // namespace stria::tool
