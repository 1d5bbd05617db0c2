// The rule that always finds something when I/O matters and the storage can do more, so that a bad
// figure never stands without advice.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

constexpr size_t kMostNamed = 3;
constexpr double kWorthNaming = 0.05;  // a share of the time in I/O

struct Advice {
  std::string_view part;
  const char* text;
};

// What to try when a part is the largest.
constexpr Advice kAdvice[] = {
    {kWaitingPart,
     "Ranks wait for the slowest of them: the timeline shows which it is and what it does. Share its work, or put "
     "more into each commit."},
    {kTurnPart,
     "The ranks of a node write to the cache of a file one at a time, which is faster than all at once. As long as one always "
     "writes, nothing is lost: the timeline shows whether. Then it is the storage that takes its time."},
    {kBackgroundWaitPart, kShorterBackgroundWait},
    {kSharingPart,
     "Buffers are shared anew for each file: put more into one file, or make them smaller (hint cb_buffer_size)."},
    {"exchange", "Let ranks write by themselves (hint romio_cb_write=disable), or take more aggregators (hint cb_nodes)."},
    {"pack", "Put all variables and commit once, keep runs in memory long, and write the type that is in memory."},
    {"unpack", "Get all variables and commit once, keep runs in memory long, and read into the type that is in the file."},
    {"plan", "Planning costs the same however much a commit moves: put more into each."},
    {"commit", "Agreeing and renaming cost the same however much a commit moves: put more into each."},
    {"open", "Open fewer files, and keep them open."},
    {"metadata", "Write fewer and larger datasets, and fewer attributes."},
    {"sync", "Commit less often, or make only every n-th output durable."},
    {"write",
     "The storage itself takes long: look at the sizes of pieces below. Longer contiguous pieces, or fewer or more "
     "writers at once (hint cb_nodes), change what it sees."},
    {"read",
     "The storage itself takes long: look at the sizes of pieces below. Longer pieces in ascending order read fastest."},
};

const char* advice_for(const RunDigest& run, const std::string& part) {
  const auto* const found =
      std::find_if(std::begin(kAdvice), std::end(kAdvice), [&part](const Advice& a) { return a.part == part; });
  if (found != std::end(kAdvice)) {
    return found->text;
  }
  switch (run.detail()) {
    case RunDigest::Detail::kRequests:
      return "The time lies in the calls themselves, outside of the requests to the storage: a library gathers memory, "
             "converts values or keeps its metadata there. Fewer and larger calls spend less of it.";
    case RunDigest::Detail::kImported:
      return "The log that this trace was made of tells no more. Run the program under libstria_trace.so and "
             "libstria_mpiio.so with STRIA_TRACE=full, which record the parts of each call (docs/tracing.md).";
    case RunDigest::Detail::kCalls:
      break;
  }
  return "The time lies in the calls themselves, outside of what was recorded inside them: record with "
         "STRIA_TRACE=full, and under the wrappers on Stria's MPI-IO, which names its parts (docs/tracing.md).";
}

std::string largest_parts(const RunDigest& run) {
  std::string list;
  const std::vector<TimeShare> parts = run.breakdown();
  const double whole = run.breakdown_seconds();
  for (size_t i = 0; i < std::min(kMostNamed, parts.size()); ++i) {
    if (i == 0 || parts[i].seconds > kWorthNaming * whole) {
      list +=
          fmt::format("{}{} ({})", list.empty() ? "" : ", ", parts[i].name, percent_text(share_of(parts[i].seconds, whole)));
    }
  }
  return list;
}

// Tells whether another rule finds something about this part; that rule then gives the advice.
bool has_rule_of_its_own(const RunDigest& run, const StorageLimit& limit, const std::string& part) {
  static constexpr std::pair<std::string_view, const char*> kRuleOfPart[] = {
      {kWaitingPart, "waiting"},   {kSharingPart, "sharing_memory"},
      {"exchange", "exchange"},    {"pack", "packing"},
      {"unpack", "packing"},       {"open", "metadata"},
      {"metadata", "metadata"},    {"sync", "sync"},
      {"write", "unstaged"},       {"write", "element_by_element"},
      {"write", "small_requests"}, {"read", "element_by_element"},
      {"read", "small_requests"}};
  for (std::span<const Rule> group : {time_rules(), together_rules(), background_rules(), request_rules()}) {
    for (const Rule& rule : group) {
      const bool is_about_it = std::any_of(std::begin(kRuleOfPart), std::end(kRuleOfPart), [&](const auto& entry) {
        return entry.first == part && std::string_view(entry.second) == rule.name;
      });
      if (is_about_it && rule.look(run, limit)) {
        return true;
      }
    }
  }
  return false;
}

MaybeFinding far_from_limit(const RunDigest& run, const StorageLimit& limit) {
  const Verdict verdict = verdict_of(run, limit);
  if (verdict == Verdict::kLittle || verdict == Verdict::kAtLimit || run.breakdown().empty()) {
    return std::nullopt;
  }
  const std::string largest = run.breakdown().front().name;
  Finding finding;
  finding.text = fmt::format("The time in I/O went into {}.", largest_parts(run));
  finding.evidence = fmt::format("{} in {} of I/O", bytes_text(static_cast<double>(run.counters().useful_bytes())),
                                 seconds_text(run.io_wall_seconds()));
  finding.evidence +=
      verdict == Verdict::kBelowLimit
          ? fmt::format(", where this storage can do it in {}",
                        seconds_text(static_cast<double>(run.counters().useful_bytes()) / limit.bytes_per_second))
          : "; what this storage can do was not measured (--probe DIRECTORY, or --limit MB/s)";
  finding.advice = has_rule_of_its_own(run, limit, largest)
                       ? "What follows says what to try."
                       : fmt::format("Begin with the largest part, {}. {}", largest, advice_for(run, largest));
  finding.weight = 1;  // it concerns all of the time, so that it comes first
  return finding;
}

constexpr Rule kLimitRules[] = {{"far_from_limit", far_from_limit}};

}  // namespace

std::span<const Rule> limit_rules() {
  return kLimitRules;
}

}  // namespace stria::tool
