// Rules about bytes that the engine moved beyond what the program asked for. That is the engine's
// choice, and a hint changes it.
#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

// docs/trace_report.md, "read_in_excess" and "written_in_excess". It is more than the factor of two
// that comes from conversion between types of four and eight bytes.
constexpr double kExcess = 2.5;

struct Excess {
  int file = -1;
  int64_t moved = 0;
  int64_t asked = 0;
  double times = kExcess;
};

// Returns the file for which most was moved in relation to what the program asked for; number -1
// where no file is remarkable.
Excess worst_of(const RunDigest& run, Counter moved, Counter asked) {
  Excess worst;
  for (int file : run.counters().files()) {
    const int64_t moved_bytes = run.counters().of_file(moved, file);
    const int64_t asked_bytes = run.counters().of_file(asked, file);
    const double times = share_of(moved_bytes, asked_bytes);
    if (times > worst.times && moved_bytes >= kLeastBytes) {
      worst = {file, moved_bytes, asked_bytes, times};
    }
  }
  return worst;
}

Finding describe(const RunDigest& run, const Excess& excess, const char* engine_did, const char* program_did) {
  Finding finding;
  finding.text = fmt::format("The engine {} {:.1f} times what the program {} '{}'.", engine_did, excess.times, program_did,
                             run.trace().files[static_cast<size_t>(excess.file)]);
  finding.evidence = fmt::format(
      "{} at the storage for {} that the program asked for; {} transfers by all ranks together, {} by each rank alone",
      bytes_text(static_cast<double>(excess.moved)), bytes_text(static_cast<double>(excess.asked)),
      count_text(run.counters().of_file(Counter::kTransfersTwoPhase, excess.file)),
      count_text(run.counters().of_file(Counter::kTransfersListIo, excess.file) +
                 run.counters().of_file(Counter::kTransfersOther, excess.file)));
  return finding;
}

MaybeFinding read_in_excess(const RunDigest& run, const StorageLimit&) {
  const Excess excess = worst_of(run, Counter::kBytesRead, Counter::kBytesGot);
  if (excess.file < 0) {
    return std::nullopt;
  }
  Finding finding = describe(run, excess, "read", "got of");
  finding.advice =
      is_mostly_together(run, excess.file)
          ? "Two-phase reads everything between the ranks' pieces, whose gaps are wide here. Let each rank read its own "
            "(hint romio_cb_read=disable)."
          : "Data sieving reads the gaps between a rank's pieces, which are wide here. Read the pieces alone (hint "
            "romio_ds_read=disable), or less at once (a smaller ind_rd_buffer_size).";
  finding.weight = (1 - 1 / excess.times) * run.moving_share(trace::Direction::kRead);
  return finding;
}

MaybeFinding written_in_excess(const RunDigest& run, const StorageLimit&) {
  const Excess excess = worst_of(run, Counter::kBytesWritten, Counter::kBytesPut);
  if (excess.file < 0) {
    return std::nullopt;
  }
  Finding finding = describe(run, excess, "wrote", "put into");
  finding.advice =
      "Data sieving reads the stretch around small pieces and writes all of it back; the gaps are wide here. Turn it off for "
      "writing (hint romio_ds_write=disable).";
  finding.weight = (1 - 1 / excess.times) * run.moving_share(trace::Direction::kWrite);
  return finding;
}

constexpr Rule kExcessRules[] = {{"read_in_excess", read_in_excess}, {"written_in_excess", written_in_excess}};

}  // namespace

bool is_mostly_together(const RunDigest& run, int file) {
  return run.counters().of_file(Counter::kTransfersTwoPhase, file) >
         run.counters().of_file(Counter::kTransfersListIo, file) + run.counters().of_file(Counter::kTransfersOther, file);
}

std::span<const Rule> excess_rules() {
  return kExcessRules;
}

}  // namespace stria::tool
