// Rules about how the program uses files and the library, and about the trace itself.
#include <algorithm>
#include <set>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr int64_t kOpensAPair = 10;       // docs/trace_report.md, "many_opens"
constexpr size_t kManyFiles = 64;         // "small_files"
constexpr double kSmallFile = 1 << 20;    // bytes
constexpr int64_t kManyCommits = 20;      // "small_commits": of one rank
constexpr double kSmallCommit = 1 << 20;  // bytes a commit of all ranks
constexpr double kLeastCommitSeconds = 0.01;

MaybeFinding many_opens(const RunDigest& run, const StorageLimit&) {
  const int64_t opens = run.counters().total(Counter::kOpens);
  const double a_pair = share_of(static_cast<double>(opens), static_cast<double>(run.counters().opened_pairs()));
  if (a_pair < static_cast<double>(kOpensAPair)) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("Each rank opens each of its files {:.0f} times.", a_pair);
  finding.evidence = fmt::format("{} of {} by {}, {} in opening", counted_text(opens, "open"),
                                 counted_text(static_cast<int64_t>(run.counters().files().size()), "file"),
                                 counted_text(run.ranks(), "rank"), seconds_text(run.phases().seconds(Phase::kOpen)));
  finding.advice = "Open a file once, keep it open, and close it at the end: every open asks the metadata server.";
  finding.weight = time_share(run.phases().seconds(Phase::kOpen), run.io_seconds());
  return finding;
}

MaybeFinding small_files(const RunDigest& run, const StorageLimit&) {
  const auto bytes =
      static_cast<double>(run.counters().total(Counter::kBytesWritten) + run.counters().total(Counter::kBytesRead));
  const auto files = static_cast<double>(run.counters().files().size());
  if (run.counters().files().size() < kManyFiles || bytes / files >= kSmallFile) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("The run uses {} of {} on average.",
                  counted_text(static_cast<int64_t>(run.counters().files().size()), "file"), bytes_text(bytes / files));
  finding.evidence = fmt::format("{} in {} by {}; {} opening files", bytes_text(bytes),
                                 counted_text(static_cast<int64_t>(run.counters().files().size()), "file"),
                                 counted_text(run.ranks(), "rank"), seconds_text(run.phases().seconds(Phase::kOpen)));
  finding.advice = "Let all ranks share one file: a commit of all of them costs the storage one file and a few large requests.";
  finding.weight = time_share(run.phases().seconds(Phase::kOpen) + run.phases().seconds(Phase::kMetadata), run.io_seconds());
  return finding;
}

MaybeFinding small_commits(const RunDigest& run, const StorageLimit&) {
  const std::vector<int64_t> by_rank = run.counters().by_rank(Counter::kCommits);
  const int64_t commits = by_rank.empty() ? 0 : *std::max_element(by_rank.begin(), by_rank.end());
  const double bytes = share_of(static_cast<double>(run.counters().useful_bytes()), static_cast<double>(commits));
  if (commits < kManyCommits || bytes >= kSmallCommit || run.io_wall_seconds() < kLeastCommitSeconds) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} commits move {} each, from all ranks together.", count_text(commits), bytes_text(bytes));
  finding.evidence =
      fmt::format("{} in {} of I/O: {} a commit", bytes_text(static_cast<double>(run.counters().useful_bytes())),
                  seconds_text(run.io_wall_seconds()), seconds_text(run.io_wall_seconds() / static_cast<double>(commits)));
  finding.advice =
      "Every commit agrees among the ranks and syncs, whatever it moves. Put several outputs before a commit, or "
      "gather small ones in memory.";
  finding.weight = 0.5;
  return finding;
}

// Returns the reason that HDF5 gives for carrying out a collective call independently
// (H5Pget_mpio_no_collective_cause).
MaybeFinding collective_given_up(const RunDigest& run, const StorageLimit&) {
  std::set<std::string> causes;
  std::set<int> ranks, files;
  for (const trace::NamedFact& fact : run.trace().facts) {
    if (fact.key == "no collective cause" && !fact.value.empty()) {
      causes.insert(fact.value);
      ranks.insert(fact.rank);
      files.insert(fact.file);
    }
  }
  if (causes.empty()) {
    return std::nullopt;
  }
  std::string list;
  for (const std::string& cause : causes) {
    list += (list.empty() ? "" : "; ") + cause;
  }
  const bool conversion = list.find("conversion") != std::string::npos;
  Finding finding;
  finding.text = fmt::format(
      "{} made HDF5 give up collective I/O in {}, on {}.", conversion ? "A conversion of types" : "A property of the call",
      counted_text(static_cast<int64_t>(files.size()), "file"), counted_text(static_cast<int64_t>(ranks.size()), "rank"));
  finding.evidence = fmt::format("HDF5 says: {}; the run made {} write requests of {} on average", list,
                                 count_text(run.counters().total(Counter::kWriteRequests)),
                                 bytes_text(share_of(static_cast<double>(run.counters().total(Counter::kBytesWritten)),
                                                     static_cast<double>(run.counters().total(Counter::kWriteRequests)))));
  finding.advice =
      conversion
          ? "Give H5Dwrite memory of the type that the dataset has, or write through Stria, which converts while it packs."
          : "See H5Pget_mpio_no_collective_cause in HDF5's manual for what the call must not do.";
  finding.weight = 0.8;
  return finding;
}

MaybeFinding hint_problems(const RunDigest& run, const StorageLimit&) {
  std::set<std::string> warnings;
  for (const trace::NamedFact& fact : run.trace().facts) {
    if (fact.key == "hint warnings" && !fact.value.empty()) {
      warnings.insert(fact.value);
    }
  }
  if (warnings.empty()) {
    return std::nullopt;
  }
  std::string list;
  for (const std::string& warning : warnings) {
    list += (list.empty() ? "" : "; ") + warning;
  }
  Finding finding;
  finding.text =
      fmt::format("{} given in hints had no effect as given.", counted_text(static_cast<int64_t>(warnings.size()), "setting"));
  finding.evidence = list;
  finding.advice = "Correct the names and values; docs/hints.md lists them. The table of files shows the hints in effect.";
  finding.weight = 0.05;
  return finding;
}

MaybeFinding dropped_records(const RunDigest& run, const StorageLimit&) {
  const int64_t dropped = run.dropped();
  if (dropped == 0) {
    return std::nullopt;
  }
  const auto recorded = static_cast<int64_t>(run.trace().events.size());
  Finding finding;
  finding.text = fmt::format("{} of what was traced is missing: {} records were dropped.",
                             percent_text(share_of(dropped, dropped + recorded)), count_text(dropped));
  finding.evidence = fmt::format("{} spans were kept; counters are complete", count_text(recorded));
  finding.advice =
      "Times taken from spans are too small. Record less (STRIA_TRACE=library), or give the trace a faster directory.";
  finding.weight = share_of(dropped, dropped + recorded);
  return finding;
}

constexpr Rule kUsageRules[] = {{"many_opens", many_opens},       {"small_files", small_files},
                                {"small_commits", small_commits}, {"collective_given_up", collective_given_up},
                                {"hint_problems", hint_problems}, {"dropped_records", dropped_records}};

}  // namespace

std::span<const Rule> usage_rules() {
  return kUsageRules;
}

}  // namespace stria::tool
