// Rules about where the time in I/O goes: a phase that takes too much of it.
#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kPackShare = 0.40;      // docs/trace_report.md, "packing"
constexpr double kFewPutsACommit = 2;    // fewer than this: variables travel one by one
constexpr double kSyncShare = 0.40;      // "sync"
constexpr double kMetadataShare = 0.30;  // "metadata"
constexpr double kReadingShare = 0.10;   // "read_modify_write"

MaybeFinding packing(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.part("pack") + run.part("unpack");
  const double share = share_of(seconds, run.breakdown_seconds());
  if (share < kPackShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const int64_t calls = run.counters().total(Counter::kPuts) + run.counters().total(Counter::kGets);
  const int64_t commits = run.counters().total(Counter::kCommits);
  const double puts = share_of(static_cast<double>(calls), static_cast<double>(commits));
  Finding finding;
  finding.text = fmt::format(
      "{} of the time in I/O is packing: moving values between the program's arrays and the buffers that are "
      "written or read.",
      percent_text(share));
  finding.evidence = fmt::format("{} of {} in I/O, summed over {}; {} puts and gets in {}", seconds_text(seconds),
                                 seconds_text(run.breakdown_seconds()), counted_text(run.ranks(), "rank"), count_text(calls),
                                 counted_text(commits, "commit"));
  finding.advice =
      commits > 0 && puts < kFewPutsACommit
          ? fmt::format(
                "Variables travel {:.1f} at a time. Where they are interleaved in memory, each pass over it fetches all "
                "and uses one: put all of them, then commit once.",
                puts)
          : "Look at the layout of the arrays (long contiguous runs pack fastest) and at conversions: write the "
            "type that is in memory where the file allows it, and use more ranks per node while cores are idle.";
  finding.weight = share;
  return finding;
}

MaybeFinding syncing(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.part("sync");
  const double share = share_of(seconds, run.breakdown_seconds());
  if (share < kSyncShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  Finding finding;
  finding.text = fmt::format("{} of the time in I/O is waiting until the data are safe on the storage.", percent_text(share));
  finding.evidence = fmt::format("{} of {} in {}; {} written", seconds_text(seconds), seconds_text(run.breakdown_seconds()),
                                 counted_text(run.counters().total(Counter::kSyncs), "sync"),
                                 bytes_text(static_cast<double>(run.counters().total(Counter::kBytesWritten))));
  finding.advice =
      "The storage takes the data at its own speed only at the end. Commit less often, or keep every n-th "
      "checkpoint durable and write the others without sync; a faster device or more servers help, a faster program "
      "does not.";
  finding.weight = share;
  return finding;
}

MaybeFinding metadata(const RunDigest& run, const StorageLimit&) {
  const double seconds = run.part("metadata") + run.part("open");
  const double share = share_of(seconds, run.breakdown_seconds());
  if (share < kMetadataShare || seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const int64_t opens = run.counters().total(Counter::kOpens);
  Finding finding;
  finding.text =
      fmt::format("{} of the time in I/O goes into opening files and into metadata, not into data.", percent_text(share));
  finding.evidence =
      fmt::format("{} opening and {} in metadata, of {}; {} of {}, {} of data",  //
                  seconds_text(run.part("open")), seconds_text(run.part("metadata")), seconds_text(run.breakdown_seconds()),
                  counted_text(opens, "open"), counted_text(static_cast<int64_t>(run.counters().files().size()), "file"),
                  bytes_text(static_cast<double>(run.counters().useful_bytes())));
  finding.advice =
      "Make fewer and larger files and datasets: many attributes and tiny datasets cost a round trip each. Keep "
      "files open instead of opening them for every output.";
  finding.weight = share;
  return finding;
}

MaybeFinding read_modify_write(const RunDigest& run, const StorageLimit&) {
  const int64_t read = run.counters().total(Counter::kBytesRead);
  const int64_t written = run.counters().total(Counter::kBytesWritten);
  const double share = share_of(read, written);
  if (run.counters().total(Counter::kBytesGot) > 0 || run.counters().total(Counter::kGets) > 0 || share < kReadingShare ||
      written < kLeastBytes) {
    return std::nullopt;
  }
  Finding finding;
  finding.text =
      fmt::format("{} were read although the program read nothing: blocks are read, changed in part and written back.",
                  bytes_text(static_cast<double>(read)));
  finding.evidence = fmt::format("{} read in {} requests for {} written, {}", bytes_text(static_cast<double>(read)),
                                 count_text(run.counters().total(Counter::kReadRequests)),
                                 bytes_text(static_cast<double>(written)), percent_text(share));
  finding.advice =
      "Data sieving fills the gaps between small pieces. Use a collective write, which has no gaps to fill, or turn "
      "it off for writing (hint romio_ds_write=disable) when the gaps are wide.";
  finding.weight = std::min(1.0, share_of(read, read + written));
  return finding;
}

constexpr Rule kTimeRules[] = {
    {"packing", packing}, {"sync", syncing}, {"metadata", metadata}, {"read_modify_write", read_modify_write}};

}  // namespace

std::span<const Rule> time_rules() {
  return kTimeRules;
}

}  // namespace stria::tool
