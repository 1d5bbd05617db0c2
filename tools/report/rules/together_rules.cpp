// Rules about what ranks do for and because of each other: waiting, exchanging, sharing memory.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kWaitShare = 0.25;      // docs/trace_report.md, "waiting"
constexpr double kExchangeShare = 0.25;  // "exchange"
constexpr double kSharingShare = 0.10;   // "sharing_memory"
constexpr double kTogetherShare = 0.30;  // "collective_by_hint"
// Ranks wait alike where the shortest wait is no less than this share of the longest.
constexpr double kAlike = 0.5;

// The counter alone tells it where there are no spans; it includes waiting for the rank's own
// requests.
double waiting_seconds(const RunDigest& run, int rank) {
  const double in_spans = run.part(kWaitingPart, rank);
  return run.part(kWaitingPart) > 0 ? in_spans : static_cast<double>(run.counters().of_rank(Counter::kWaitNs, rank)) * 1e-9;
}

double waiting_seconds(const RunDigest& run) {
  double sum = 0;
  for (int rank = 0; rank < run.ranks(); ++rank) {
    sum += waiting_seconds(run, rank);
  }
  return sum;
}

struct LongestPart {
  std::string_view name;
  double seconds = 0;
};

// Returns what the rank that waits least does meanwhile. Without spans, exchange and commit include
// waiting, so that they tell nothing.
LongestPart busiest_part(const RunDigest& run, int rank) {
  LongestPart longest;
  const bool has_spans = run.part(kWaitingPart) > 0;
  for (std::string_view name : {"write", "read", "sync", "pack", "unpack", "metadata", "open", "plan", "exchange", "commit"}) {
    const bool is_mixed = !has_spans && (name == "exchange" || name == "commit");
    if (!is_mixed && run.part(name, rank) > longest.seconds) {
      longest = {name, run.part(name, rank)};
    }
  }
  return longest;
}

// Counts waiting, exchange and shared memory. Without spans, a part of the waiting lies inside the
// exchange, so that only the longer of the two is certain.
double seconds_together(const RunDigest& run) {
  const double waiting = run.part(kWaitingPart);
  return waiting > 0 ? waiting + run.part("exchange") + run.part(kSharingPart)
                     : std::max(run.part("exchange"), std::min(run.waiting_seconds(), run.breakdown_seconds()));
}

// Returns what shortens the work for which all other ranks wait. One rank alone syncs and writes
// metadata, so that sharing helps only with the rest.
const char* advice_to_shorten(std::string_view part) {
  if (part == "sync") {
    return "it waits until the data are safe on the storage. Commit less often, make only every n-th output durable, or "
           "commit in the background (commit_async()).";
  }
  if (part == "metadata" || part == "open" || part == "commit") {
    return "it makes files and writes what describes them. Make fewer and larger files and datasets, with fewer attributes.";
  }
  return "share its work (more aggregators, hint cb_nodes, or an even decomposition).";
}

MaybeFinding waiting(const RunDigest& run, const StorageLimit&) {
  const double seconds = waiting_seconds(run);
  const double share = time_share(seconds, run.breakdown_seconds());
  if (share < kWaitShare || seconds < kLeastSeconds || run.ranks() < 2) {
    return std::nullopt;
  }
  int longest = 0;
  int shortest = 0;
  for (int rank = 1; rank < run.ranks(); ++rank) {
    longest = waiting_seconds(run, rank) > waiting_seconds(run, longest) ? rank : longest;
    shortest = waiting_seconds(run, rank) < waiting_seconds(run, shortest) ? rank : shortest;
  }
  const LongestPart meanwhile = busiest_part(run, shortest);
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is waiting for other ranks.", percent_text(share));
  finding.evidence = fmt::format("{} of {}; least on rank {} ({}), most on rank {} ({})", seconds_text(seconds),
                                 seconds_text(run.breakdown_seconds()), shortest, seconds_text(waiting_seconds(run, shortest)),
                                 longest, seconds_text(waiting_seconds(run, longest)));
  if (meanwhile.seconds > 0) {
    finding.evidence += fmt::format("; rank {} spends {} in {}, more than in anything else of its own", shortest,
                                    seconds_text(meanwhile.seconds), meanwhile.name);
  }
  if (waiting_seconds(run, shortest) < kAlike * waiting_seconds(run, longest)) {
    finding.advice = fmt::format("The others wait for rank {}: {}", shortest, advice_to_shorten(meanwhile.name));
  } else {
    finding.advice =
        "All ranks wait about alike: they are kept from running (more ranks than cores), or every commit costs several "
        "meetings: put more into each.";
  }
  finding.weight = share;
  return finding;
}

MaybeFinding exchanging(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.part("exchange");
  const double share = share_of(seconds, run.breakdown_seconds());
  if (share < kExchangeShare || seconds < kLeastSeconds || run.ranks() < 2) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is the exchange of data between ranks.", percent_text(share));
  finding.evidence =
      fmt::format("{} of {}; {} transfers went through aggregators, {} did not", seconds_text(seconds),
                  seconds_text(run.breakdown_seconds()), count_text(run.counters().total(Counter::kTransfersTwoPhase)),
                  count_text(run.counters().total(Counter::kTransfersListIo) + run.counters().total(Counter::kTransfersOther)));
  if (run.part(kWaitingPart) <= 0) {
    finding.evidence += fmt::format("; waiting for other ranks is part of it: in all phases together they stood still for {}",
                                    seconds_text(run.waiting_seconds()));
  }
  finding.advice =
      "More aggregators (hint cb_nodes) share the exchange; none at all are needed where a rank's pieces are longer than "
      "some 64 kB (hint romio_cb_write=disable).";
  finding.weight = share;
  return finding;
}

MaybeFinding sharing_memory(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.part(kSharingPart);
  const double share = share_of(seconds, run.breakdown_seconds());
  if (share < kSharingShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const int64_t commits = run.counters().total(Counter::kCommits);
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is getting the memory that ranks of a node share.", percent_text(share));
  finding.evidence = fmt::format(
      "{} of {}; {} per commit and rank; {} commits move {} each", seconds_text(seconds), seconds_text(run.breakdown_seconds()),
      seconds_text(share_of(seconds, static_cast<double>(commits))), count_text(commits / std::max(1, run.ranks())),
      bytes_text(share_of(static_cast<double>(run.counters().useful_bytes()) * run.ranks(), static_cast<double>(commits))));
  finding.advice =
      "The aggregators' buffers are shared anew for each file. Put more into one file, make the buffers smaller (hint "
      "cb_buffer_size), or send messages instead (hint stria_shared_memory=disable).";
  finding.weight = share;
  return finding;
}

MaybeFinding collective_by_hint(const RunDigest& run, const StorageLimit&) {
  const double seconds = seconds_together(run);
  const double share = share_of(seconds, run.breakdown_seconds());
  const std::string why = fact_of(run, "why collective");
  if (share < kTogetherShare || seconds < kLeastSeconds || !why.starts_with("hint ")) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("The {} sends all data through aggregators, round by round.", why);
  finding.evidence =
      fmt::format("waiting, exchange and shared memory take {} of the time in I/O; {} transfers went through aggregators",
                  percent_text(share), count_text(run.counters().total(Counter::kTransfersTwoPhase)));
  finding.advice =
      "Try the run without this hint. Stria then chooses by itself: where a rank's pieces are long, each rank "
      "writes its own, and waits for nobody.";
  finding.weight = share;
  return finding;
}

constexpr Rule kTogetherRules[] = {{"collective_by_hint", collective_by_hint},
                                   {"waiting", waiting},
                                   {"exchange", exchanging},
                                   {"sharing_memory", sharing_memory}};

}  // namespace

std::span<const Rule> together_rules() {
  return kTogetherRules;
}

}  // namespace stria::tool
