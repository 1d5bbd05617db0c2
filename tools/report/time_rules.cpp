// Rules about where the time in I/O goes: one phase that takes more than its due.
#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kLeastSeconds = 0.01;     // shorter I/O is not worth a word
constexpr double kPackShare = 0.40;        // docs/trace_report.md, "packing"
constexpr double kFewPutsACommit = 2;      // fewer than this: variables travel one by one
constexpr double kSyncShare = 0.40;        // "sync"
constexpr double kMetadataShare = 0.30;    // "metadata"
constexpr double kWaitShare = 0.50;        // "waiting"
constexpr double kReadingShare = 0.10;     // "read_modify_write"
constexpr double kLowShareOfLimit = 0.30;  // "far_from_limit"
constexpr int64_t kLeastBytes = 1 << 20;

MaybeFinding packing(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.seconds(Phase::kPack) + run.seconds(Phase::kUnpack);
  const double share = share_of(seconds, run.phase_seconds());
  if (share < kPackShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const int64_t calls = run.total(Counter::kPuts) + run.total(Counter::kGets);
  const int64_t commits = run.total(Counter::kCommits);
  const double puts = share_of(static_cast<double>(calls), static_cast<double>(commits));
  Finding finding;
  finding.text = fmt::format(
      "{} of the time in I/O is packing: moving values between the program's arrays and the buffers that are "
      "written or read.",
      percent_text(share));
  finding.evidence = fmt::format("{} of {} in I/O, summed over {} ranks; {} puts and gets in {} commits", seconds_text(seconds),
                                 seconds_text(run.phase_seconds()), run.ranks(), count_text(calls), count_text(commits));
  finding.advice =
      commits > 0 && puts < kFewPutsACommit
          ? fmt::format(
                "Variables travel {:.1f} at a time. Where they are interleaved in memory, each pass over it fetches all "
                "and uses one: put all of them, then commit once.",
                puts)
          : "Look at the layout of the arrays (long contiguous runs pack fastest) and at conversions: write the type that is "
            "in "
            "memory where the file allows it, and use more ranks a node while cores are idle.";
  finding.weight = share;
  return finding;
}

MaybeFinding syncing(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.seconds(Phase::kSync);
  const double share = share_of(seconds, run.phase_seconds());
  if (share < kSyncShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is waiting until the data are safe on the storage.", percent_text(share));
  finding.evidence =
      fmt::format("{} of {} in {} syncs; {} written", seconds_text(seconds), seconds_text(run.phase_seconds()),
                  count_text(run.total(Counter::kSyncs)), bytes_text(static_cast<double>(run.total(Counter::kBytesWritten))));
  finding.advice =
      "The storage takes the data at its own speed only at the end. Commit less often, or keep every n-th checkpoint durable "
      "and write the "
      "others without sync; a faster device or more servers help, a faster program does not.";
  finding.weight = share;
  return finding;
}

MaybeFinding metadata(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.seconds(Phase::kMetadata) + run.seconds(Phase::kOpen);
  const double share = share_of(seconds, run.phase_seconds());
  if (share < kMetadataShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const int64_t opens = run.total(Counter::kOpens);
  Finding finding;
  finding.text =
      fmt::format("{} of the time in I/O goes into opening files and into metadata, not into data.", percent_text(share));
  finding.evidence = fmt::format("{} opening and {} in metadata, of {}; {} opens of {} files, {} of data",  //
                                 seconds_text(run.seconds(Phase::kOpen)), seconds_text(run.seconds(Phase::kMetadata)),
                                 seconds_text(run.phase_seconds()), count_text(opens), run.files().size(),
                                 bytes_text(static_cast<double>(run.useful_bytes())));
  finding.advice =
      "Make fewer and larger files and datasets: many attributes and tiny datasets cost a round trip each. Keep files open "
      "instead of "
      "opening them for every output.";
  finding.weight = share;
  return finding;
}

MaybeFinding waiting(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.seconds(Phase::kExchange);
  const double share = share_of(seconds, run.phase_seconds());
  if (share < kWaitShare || seconds < kLeastSeconds || run.ranks() < 2) {
    return std::nullopt;
  }
  int longest = 0;
  int shortest = 0;
  for (int rank = 1; rank < run.ranks(); ++rank) {
    longest = run.seconds(Phase::kExchange, rank) > run.seconds(Phase::kExchange, longest) ? rank : longest;
    shortest = run.seconds(Phase::kExchange, rank) < run.seconds(Phase::kExchange, shortest) ? rank : shortest;
  }
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is spent exchanging data or waiting for other ranks.", percent_text(share));
  finding.evidence =
      fmt::format("{} of {}; least on rank {} ({}), most on rank {} ({})", seconds_text(seconds),
                  seconds_text(run.phase_seconds()), shortest, seconds_text(run.seconds(Phase::kExchange, shortest)), longest,
                  seconds_text(run.seconds(Phase::kExchange, longest)));
  if (run.waiting_seconds() > 0) {
    finding.evidence +=
        fmt::format("; in all phases together the ranks stood still for {}", seconds_text(run.waiting_seconds()));
  }
  finding.advice =
      "The others wait for the rank that waits least: see in the timeline what it does meanwhile. More aggregators (hint "
      "cb_nodes) share "
      "its writing; ranks that arrive late at the commit bring their waiting along from the computation.";
  finding.weight = share;
  return finding;
}

MaybeFinding read_modify_write(const RunDigest& run, const StorageLimit&) {
  const int64_t read = run.total(Counter::kBytesRead);
  const int64_t written = run.total(Counter::kBytesWritten);
  const double share = share_of(read, written);
  if (run.total(Counter::kBytesGot) > 0 || run.total(Counter::kGets) > 0 || share < kReadingShare || written < kLeastBytes) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("{} were read although the program read nothing: blocks are read, changed in part and written back.",
                  bytes_text(static_cast<double>(read)));
  finding.evidence =
      fmt::format("{} read in {} requests for {} written, {}", bytes_text(static_cast<double>(read)),
                  count_text(run.total(Counter::kReadRequests)), bytes_text(static_cast<double>(written)), percent_text(share));
  finding.advice =
      "Data sieving fills the gaps between small pieces. Use a collective write, which has no gaps to fill, or turn it off for "
      "writing "
      "(hint romio_ds_write=disable) when the gaps are wide.";
  finding.weight = std::min(1.0, share_of(read, read + written));
  return finding;
}

MaybeFinding far_from_limit(const RunDigest& run, const StorageLimit& limit) {
  const double rate = share_of(static_cast<double>(run.useful_bytes()), run.io_wall_seconds());
  const double share = share_of(rate, limit.bytes_per_second);
  if (!limit.is_measured || rate <= 0 || share >= kLowShareOfLimit || run.useful_bytes() < kLeastBytes) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("Data moved at {} of what this storage can do.", percent_text(share));
  finding.evidence =
      fmt::format("{} in {} of I/O: {}; limit {}, {}", bytes_text(static_cast<double>(run.useful_bytes())),
                  seconds_text(run.io_wall_seconds()), rate_text(rate), rate_text(limit.bytes_per_second), limit.source);
  finding.advice = "The storage is not what holds this run back: the breakdown below says what is.";
  finding.weight = 0.2;
  return finding;
}

constexpr Rule kRules[] = {{"packing", packing},
                           {"sync", syncing},
                           {"metadata", metadata},
                           {"waiting", waiting},
                           {"read_modify_write", read_modify_write},
                           {"far_from_limit", far_from_limit}};

}  // namespace

std::span<const Rule> time_rules() {
  return kRules;
}

}  // namespace stria::tool
