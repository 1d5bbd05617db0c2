// A rule about commits in the background: how much of them the program has not noticed.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kLeastSeconds = 0.01;
constexpr double kWaitedShare = 0.25;  // docs/trace_report.md, "background"
constexpr double kCpuShare = 0.05;     // of the ranks' time

MaybeFinding background(const RunDigest& run, const StorageLimit&) {
  const double worked = static_cast<double>(run.total(Counter::kBackgroundNs)) * 1e-9;
  const double waited = static_cast<double>(run.total(Counter::kBackgroundWaitNs)) * 1e-9;
  const double processor = static_cast<double>(run.total(Counter::kBackgroundCpuNs)) * 1e-9;
  if (worked < kLeastSeconds) {
    return std::nullopt;
  }
  const double hidden = 1 - std::min(1.0, share_of(waited, worked));
  const double stolen = share_of(processor, run.run_seconds() * run.ranks());
  Finding finding;
  finding.text = fmt::format("{} of the work on commits in the background went unnoticed; for the rest the program waited.",
                             percent_text(hidden));
  finding.evidence =
      fmt::format("{} of work and {} of waiting on all ranks; the threads took {} of processor time, {} of the ranks'",
                  seconds_text(worked), seconds_text(waited), seconds_text(processor), percent_text(stolen));
  if (1 - hidden >= kWaitedShare) {
    finding.advice =
        "Compute longer between two checkpoints, so that one is written before the next one waits for it. Where the "
        "storage takes more, let more ranks of a node write (hint stria_staging_writers), lift stria_staging_rate, or stage on a "
        "faster place (hint stria_staging).";
  } else if (stolen >= kCpuShare) {
    finding.advice =
        "The threads may have taken this time from the computation. Leave them a processor (fewer ranks, each bound to "
        "its own), or write the same at a lower rate (hint stria_staging_rate).";
  } else {
    finding.advice = "Nothing: there is little left to hide.";
  }
  finding.weight = std::min(1.0, share_of(waited, run.io_seconds()));
  return finding;
}

constexpr Rule kRules[] = {{"background", background}};

}  // namespace

std::span<const Rule> background_rules() {
  return kRules;
}

}  // namespace stria::tool
