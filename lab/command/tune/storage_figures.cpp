#include "tune/storage_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace stria::tool {

namespace {

using bench::kKiB;
using bench::kMiB;
/// A rank makes so many requests in a run, but not more bytes.
constexpr int64_t kRequests = 16;
constexpr int64_t kMostBytes = 4 * kMiB;

/// Turns at this part of the speed of writing apart don't disturb each other.
constexpr double kUndisturbed = 0.8;

class Measurement {
 public:
  Measurement(Measuring& measuring, const Machine& machine, double end_s)
      : measuring_(measuring), machine_(machine), end_s_(end_s) {}

  StorageFigures all() {
    apart(kMiB);  // makes the storage warm
    std::optional<double> shortest_s, longest_s;
    for (const int64_t length : {64 * kKiB, kMiB, kMostBytes}) {
      longest_s = apart(length);
      shortest_s = shortest_s ? shortest_s : longest_s;
      note_speed(length, block_of(length), longest_s, figures_.all_writers);
    }
    if (const auto one_s = seconds({"ior", ior(kMostBytes), {}, "posix", true})) {
      figures_.one_writer = speed(kMostBytes, *one_s);
    }
    if (shortest_s && longest_s) {
      const double bytes_s = *longest_s * static_cast<double>(block_of(64 * kKiB)) / static_cast<double>(kMostBytes);
      figures_.request_s = std::max((*shortest_s - bytes_s) / kRequests, 0.0);
    }
    for (const int64_t length : {4 * kKiB, 64 * kKiB, kMiB}) {
      find_disturbance(length);
    }
    if (machine_.store) {
      find_crossing();
    }
    for (const int64_t buffer : {kMiB, 4 * kMiB, 32 * kMiB}) {
      const Hints hints{{"stria_method", "two_phase"}, {"cb_nodes", "1"}, {"cb_buffer_size", std::to_string(buffer)}};
      note_speed(buffer, kMostBytes, seconds({"noncontig", {{"kib", kMostBytes / kKiB}}, hints, "library"}),
                 figures_.aggregator);
    }
    return figures_;
  }

 private:
  static int64_t block_of(int64_t length) { return std::min(kRequests * length, kMostBytes); }
  static OtherRun::Sizes ior(int64_t length) {
    return {{"block-kib", block_of(length) / kKiB}, {"transfer-kib", length / kKiB}};
  }
  static double speed(int64_t bytes, double seconds) { return static_cast<double>(bytes) / 1e6 / seconds; }

  // Nothing when it is late, or took too long.
  std::optional<double> seconds(const OtherRun& run) {
    if (measuring_.now() > end_s_) {
      return std::nullopt;
    }
    const double took_s = measuring_.run_other(fmt::format("s{}", count_++), run);
    return std::isfinite(took_s) ? std::optional(took_s) : std::nullopt;
  }

  /// Measures each rank on its own part of the file.
  std::optional<double> apart(int64_t length, const Hints& hints = {}) { return seconds({"ior", ior(length), hints}); }

  void note_speed(int64_t length, int64_t bytes, std::optional<double> took_s, StorageFigures::ByLength& speeds) const {
    if (took_s) {
      speeds.emplace_back(length, speed(bytes * machine_.ranks, *took_s));
    }
  }

  // Pieces that take turns are those of a 1-D cyclic array of whole MiB.
  void find_disturbance(int64_t length) {
    const int64_t all_mib = std::max<int64_t>(block_of(length) * machine_.ranks / kMiB, 1);
    const int64_t turns = std::max<int64_t>(all_mib * kMiB / machine_.ranks / length, 1);
    if (static_cast<double>(turns) * figures_.request_s.value_or(0) > end_s_ - measuring_.now()) {
      return;
    }
    const auto in_turn_s = seconds({"cyclic", {{"mib", all_mib}, {"accesses", turns}}});
    const auto apart_s = seconds({"ior", {{"block-kib", turns * length / kKiB}, {"transfer-kib", length / kKiB}}});
    if (in_turn_s && apart_s) {
      figures_.turns.emplace_back(length, *apart_s / *in_turn_s);
    }
  }

  // Measures requests of one length, on stripes of that length or of two thirds of it.
  void find_crossing() {
    constexpr int64_t kLength = 96 * kKiB;
    const auto two_s = apart(kLength, {{"striping_unit", std::to_string(kLength * 2 / 3)}});
    const auto one_s = apart(kLength, {{"striping_unit", std::to_string(kLength)}});
    if (two_s && one_s) {
      figures_.crossing_s = std::max((*two_s - *one_s) / kRequests, 0.0);
    }
  }

  Measuring& measuring_;
  const Machine& machine_;
  const double end_s_;
  StorageFigures figures_;
  int count_ = 0;
};

std::string in_units(int64_t bytes) {
  return bytes < kMiB ? fmt::format("{} KiB", bytes / kKiB) : fmt::format("{} MiB", bytes / kMiB);
}

std::string speeds_in_words(const StorageFigures::ByLength& speeds) {
  std::vector<std::string> words;
  for (const auto& [length, speed] : speeds) {
    words.push_back(fmt::format("{:.0f} MB/s by {}", speed, in_units(length)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

StorageFigures measure_storage(Measuring& measuring, const Machine& machine, double end_s) {
  return Measurement(measuring, machine, end_s).all();
}

std::vector<std::string> in_sentences(const StorageFigures& figures) {
  std::vector<std::string> lines;
  if (!figures.all_writers.empty()) {
    lines.push_back("all ranks write " + speeds_in_words(figures.all_writers));
  }
  if (figures.one_writer) {
    lines.push_back(fmt::format("one rank alone writes {:.0f} MB/s", *figures.one_writer));
  }
  if (figures.request_s) {
    lines.push_back(fmt::format("a request costs {:.3f} ms beside its bytes", *figures.request_s * 1e3));
  }
  if (!figures.turns.empty()) {
    const auto undisturbed =
        std::find_if(figures.turns.begin(), figures.turns.end(), [](const auto& turn) { return turn.second >= kUndisturbed; });
    lines.push_back(undisturbed != figures.turns.end()
                        ? fmt::format("writers in turn don't disturb each other from {} on", in_units(undisturbed->first))
                        : "writers in turn disturb each other");
  }
  if (figures.crossing_s) {
    lines.push_back(fmt::format("a request to two servers costs {:.3f} ms more", *figures.crossing_s * 1e3));
  }
  if (!figures.aggregator.empty()) {
    lines.push_back("one aggregator writes " + speeds_in_words(figures.aggregator) + " of buffer");
  }
  return lines;
}

}  // namespace stria::tool
