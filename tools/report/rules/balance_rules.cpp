// Rules about ranks that do more than others.
#include <algorithm>
#include <numeric>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kMostOfTheWriting = 0.9;  // docs/trace_report.md, "aggregator_imbalance"
constexpr double kSlowRank = 1.5;          // "rank_imbalance": times the mean
constexpr double kLeastExcess = 0.01;      // seconds above it

MaybeFinding aggregator_imbalance(const RunDigest& run, const StorageLimit&) {
  std::vector<int64_t> written;
  for (int rank = 0; rank < run.ranks(); ++rank) {
    if (run.counters().of_rank(Counter::kAggregated, rank) > 0) {
      written.push_back(run.counters().of_rank(Counter::kBytesWritten, rank) +
                        run.counters().of_rank(Counter::kBytesRead, rank));
    }
  }
  std::sort(written.rbegin(), written.rend());
  const int64_t all = std::accumulate(written.begin(), written.end(), int64_t{0});
  size_t few = 0;
  int64_t of_few = 0;
  while (few < written.size() && share_of(of_few, all) < kMostOfTheWriting) {
    of_few += written[few++];
  }
  if (written.size() < 2 || all < kLeastBytes || 2 * few > written.size()) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} of {} aggregators {} {} of the writing and reading.", few, written.size(),
                             few == 1 ? "does" : "do", percent_text(share_of(of_few, all)));
  finding.evidence = fmt::format("{} of {}; the busiest moved {}, the idlest {}", bytes_text(static_cast<double>(of_few)),
                                 bytes_text(static_cast<double>(all)), bytes_text(static_cast<double>(written.front())),
                                 bytes_text(static_cast<double>(written.back())));
  finding.advice =
      "File domains are uneven: data lie in a small part of the file, or the unit of alignment is large for it. "
      "Choose fewer aggregators (hint cb_nodes) or a smaller striping_unit.";
  finding.weight = 0.5 * (1 - share_of(static_cast<double>(all) / static_cast<double>(written.size()),
                                       static_cast<double>(written.front())));
  return finding;
}

// Returns the seconds that a rank spends on its own data, without waiting for others. One rank does
// metadata and syncs for all; the rules "metadata" and "sync" look at those.
double busy_seconds(const RunDigest& run, int rank) {
  double sum = 0;
  for (Phase phase : {Phase::kPack, Phase::kUnpack, Phase::kWrite, Phase::kRead}) {
    sum += run.phases().seconds(phase, rank);
  }
  return sum;
}

MaybeFinding rank_imbalance(const RunDigest& run, const StorageLimit&) {
  if (run.ranks() < 2 || run.counters().total(Counter::kAggregated) > 0) {
    return std::nullopt;  // aggregators are meant to be busier; aggregator_imbalance looks at them
  }
  std::vector<double> busy;
  for (int rank = 0; rank < run.ranks(); ++rank) {
    busy.push_back(busy_seconds(run, rank));
  }
  const auto slowest = std::max_element(busy.begin(), busy.end());
  const double mean = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
  if (*slowest < kSlowRank * mean || *slowest - mean < kLeastExcess) {
    return std::nullopt;
  }
  const int rank = static_cast<int>(slowest - busy.begin());
  const int64_t bytes = run.counters().of_rank(Counter::kBytesPut, rank) + run.counters().of_rank(Counter::kBytesGot, rank);
  const int64_t all = run.counters().total(Counter::kBytesPut) + run.counters().total(Counter::kBytesGot);
  Finding finding;
  finding.text = fmt::format("Rank {} takes {:.1f} times as long as the mean of the ranks, and the others wait for it.", rank,
                             *slowest / mean);
  finding.evidence = fmt::format("{} against {}; it moves {} of the data where an even share were {}", seconds_text(*slowest),
                                 seconds_text(mean), percent_text(share_of(bytes, all)), percent_text(1.0 / run.ranks()));
  finding.advice =
      share_of(bytes, all) > kSlowRank / run.ranks()
          ? "It holds more data than the others: balance the decomposition."
          : "It holds no more data than the others: look at its node (memory, network, a busy neighbour) in the timeline.";
  finding.weight = 1 - mean / *slowest;
  return finding;
}

MaybeFinding one_writer(const RunDigest& run, const StorageLimit&) {
  const std::vector<int64_t> written = run.counters().by_rank(Counter::kBytesWritten);
  const auto most = std::max_element(written.begin(), written.end());
  if (run.ranks() < 2 || most == written.end() || *most < kLeastBytes) {
    return std::nullopt;
  }
  const int64_t all = run.counters().total(Counter::kBytesWritten);
  if (share_of(*most, all) < kMostOfTheWriting) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("Rank {} writes {} of all data, alone among {} ranks.", most - written.begin(),
                             percent_text(share_of(*most, all)), run.ranks());
  finding.evidence = fmt::format("{} of {}", bytes_text(static_cast<double>(*most)), bytes_text(static_cast<double>(all)));
  finding.advice =
      "One process reaches the speed of one core and one network card. Let every rank put its own part, and choose "
      "more than one aggregator (hint cb_nodes).";
  finding.weight = 1 - 1.0 / run.ranks();
  return finding;
}

constexpr Rule kBalanceRules[] = {
    {"aggregator_imbalance", aggregator_imbalance}, {"rank_imbalance", rank_imbalance}, {"one_writer", one_writer}};

}  // namespace

std::span<const Rule> balance_rules() {
  return kBalanceRules;
}

}  // namespace stria::tool
