// Rules about commits in the background: how much of them the program has not noticed, and what
// their calls wrote because it found no memory.
#include <algorithm>
#include <map>

#include "report/rule.hpp"
#include "trace/format/counter_view.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kWaitedShare = 0.25;    // docs/trace_report.md, "background"
constexpr double kCpuShare = 0.05;       // the share of the ranks' time
constexpr double kUnstagedShare = 0.01;  // the share of the bytes written
constexpr int64_t kLeastUnstagedBytes = 1 << 20;

int longest_waiting_rank(const RunDigest& run) {
  const std::vector<int64_t> waited = run.counters().by_rank(Counter::kBackgroundWaitNs);
  return static_cast<int>(std::max_element(waited.begin(), waited.end()) - waited.begin());
}

MaybeFinding background(const RunDigest& run, const StorageLimit&) {
  const double worked = run.background_wall_seconds();
  const int longest = longest_waiting_rank(run);
  const double waited = run.background_wait_seconds(longest);
  const double processor = static_cast<double>(run.counters().total(Counter::kBackgroundCpuNs)) * 1e-9;
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
  if (1 - hidden >= kWaitedShare) {
    finding.advice = kShorterBackgroundWait;
  } else if (stolen >= kCpuShare) {
    finding.advice =
        "The threads may have taken this time from the computation. Leave them a processor (fewer ranks, each bound to "
        "its own), or write the same at a lower rate (hint stria_staging_rate).";
  } else {
    finding.advice = "Nothing: there is little left to hide.";
  }
  finding.weight = time_share(static_cast<double>(run.counters().total(Counter::kBackgroundWaitNs)) * 1e-9, run.io_seconds());
  return finding;
}

// Bytes that a node must be able to stage for one commit: its ranks have equal parts of the limit.
int64_t least_limit_bytes(const RunDigest& run) {
  const trace::TraceFile& trace = run.trace();
  const trace::CounterView view(trace);
  int64_t most_bytes = 0;  // the bytes of a rank's commit
  for (const trace::CounterSet& set : trace.counter_sets) {
    if (view.value(set, Counter::kUnstagedBytes) > 0) {
      const int64_t commits = std::max<int64_t>(1, view.value(set, Counter::kCommits));
      most_bytes = std::max(most_bytes, (view.value(set, Counter::kBytesWritten) + commits - 1) / commits);
    }
  }
  std::map<int, int64_t> ranks_of_node;
  int64_t most_ranks = 1;
  for (const trace::RankInfo& rank : trace.ranks) {
    most_ranks = std::max(most_ranks, rank.node < 0 ? 1 : ++ranks_of_node[rank.node]);
  }
  return most_bytes * most_ranks;
}

MaybeFinding unstaged(const RunDigest& run, const StorageLimit&) {
  const int64_t bytes = run.counters().total(Counter::kUnstagedBytes);
  const int64_t written = run.counters().total(Counter::kBytesWritten);
  if (bytes < kLeastUnstagedBytes || share_of(bytes, written) < kUnstagedShare) {
    return std::nullopt;
  }
  const std::string hint = fact_of(run, "hint stria_staging_limit");
  Finding finding;
  finding.text = fmt::format("{} of {} were written within commit_async(), because the staging memory was full.",
                             bytes_text(static_cast<double>(bytes)), bytes_text(static_cast<double>(written)));
  finding.evidence = fmt::format("{} of the bytes; the limit of a node's staging memory was {}",
                                 percent_text(time_share(static_cast<double>(bytes), static_cast<double>(written))),
                                 hint.empty() ? "a quarter of its free memory" : hint + " bytes");
  finding.advice = fmt::format(
      "Raise it to {} bytes for each commit that is under way at a time (hint stria_staging_limit), where the nodes have that "
      "memory; or stage less at a time: commit smaller files, or on more nodes.",
      least_limit_bytes(run));
  finding.weight = time_share(run.phases().seconds(Phase::kWrite), run.io_seconds());
  return finding;
}

constexpr Rule kBackgroundRules[] = {{"background", background}, {"unstaged", unstaged}};

}  // namespace

std::span<const Rule> background_rules() {
  return kBackgroundRules;
}

}  // namespace stria::tool
