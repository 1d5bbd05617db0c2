// A rule about commits in the background: how much of them the program has not noticed.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kLeastSeconds = 0.01;
constexpr double kWaitedShare = 0.25;  // docs/trace_report.md, "background"
constexpr double kCpuShare = 0.05;     // of the ranks' time
constexpr double kUnstagedShare = 0.1;

int longest_waiting_rank(const RunDigest& run) {
  const std::vector<int64_t> waited = run.by_rank(Counter::kBackgroundWaitNs);
  return static_cast<int>(std::max_element(waited.begin(), waited.end()) - waited.begin());
}

MaybeFinding background(const RunDigest& run, const StorageLimit&) {
  const double worked = run.background_wall_seconds();
  const int longest = longest_waiting_rank(run);
  const double waited = run.background_wait_seconds(longest);
  const double processor = static_cast<double>(run.total(Counter::kBackgroundCpuNs)) * 1e-9;
  if (worked < kLeastSeconds) {
    return std::nullopt;
  }
  // All ranks wait for the same work: the rank that waits longest tells how much was noticed.
  const double hidden = 1 - time_share(waited, worked);
  const double stolen = time_share(processor, run.run_seconds() * run.ranks());
  Finding finding;
  finding.text = fmt::format("{} of the work on commits in the background went unnoticed; for the rest the program waited.",
                             percent_text(hidden));
  finding.evidence = fmt::format(
      "{} of work; {} of waiting on rank {}, no rank waited longer; the threads took {} of processor time, {} of "
      "the ranks'",
      seconds_text(worked), seconds_text(waited), longest, seconds_text(processor), percent_text(stolen));
  const auto unstaged = static_cast<double>(run.total(Counter::kUnstagedBytes));
  const double unstaged_share = time_share(unstaged, static_cast<double>(run.total(Counter::kBytesWritten)));
  if (unstaged > 0) {
    finding.evidence += fmt::format("; {} didn't fit into the staging memory and were written in the call, {} of all",
                                    bytes_text(unstaged), percent_text(unstaged_share));
  }
  if (unstaged_share >= kUnstagedShare) {
    finding.advice =
        "Give the staging more memory (hint stria_staging_limit), or more time between two commits: what doesn't fit is "
        "written before commit_async() returns.";
  } else if (1 - hidden >= kWaitedShare) {
    finding.advice = kShorterBackgroundWait;
  } else if (stolen >= kCpuShare) {
    finding.advice =
        "The threads may have taken this time from the computation. Leave them a processor (fewer ranks, each bound to "
        "its own), or write the same at a lower rate (hint stria_staging_rate).";
  } else {
    finding.advice = "Nothing: there is little left to hide.";
  }
  finding.weight = time_share(static_cast<double>(run.total(Counter::kBackgroundWaitNs)) * 1e-9, run.io_seconds());
  return finding;
}

constexpr Rule kRules[] = {{"background", background}};

}  // namespace

std::span<const Rule> background_rules() {
  return kRules;
}

}  // namespace stria::tool
