#include "report/time_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "viewer/background_threads.hpp"

namespace stria::tool {

namespace {

using trace::Event;
using trace::TraceFile;

constexpr double kLeastShareOfACall = 0.01;  // calls that take less are joined
constexpr int kMostDepth = 64;

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kPartOfKind = {{
    {"message wait", kWaitingPart},
    {"barrier", kWaitingPart},
    {"broadcast", kWaitingPart},
    {"reduce", kWaitingPart},
    {"gather", kWaitingPart},
    {"turn wait", kTurnPart},
    {"background wait", kBackgroundWaitPart},
    {"share memory", kSharingPart},
    {"storage write", "write"},
    {"storage write behind", "write"},
    {"storage read", "read"},
    {"storage sync", "sync"},
    {"storage open", "open"},
}};

// Returns the seconds of every span of I/O, without those of the spans inside it. What is in flight
// takes no time from the call around it.
std::vector<double> own_seconds(const TraceFile& trace, const std::vector<bool>& in_io, const std::vector<int64_t>& parents) {
  std::vector<double> own(trace.events.size(), 0.0);
  for (size_t i = 0; i < own.size(); ++i) {
    const Event& event = trace.events[i];
    if (!in_io[i]) {
      continue;
    }
    const double seconds = static_cast<double>(event.end_ns - event.begin_ns) * kSecondsPerNs;
    own[i] += seconds;
    if (parents[i] >= 0 && !trace.kinds[event.kind].overlaps && in_io[static_cast<size_t>(parents[i])]) {
      own[static_cast<size_t>(parents[i])] -= seconds;
    }
  }
  return own;
}

// Returns the part to which a span's own time belongs: that of its kind, or else the outermost
// phase around it.
std::string part_of(const TraceFile& trace, const std::vector<int64_t>& parents, size_t event) {
  const trace::KindInfo& kind = trace.kinds[trace.events[event].kind];
  const auto* const found =
      std::find_if(kPartOfKind.begin(), kPartOfKind.end(), [&kind](const auto& entry) { return entry.first == kind.name; });
  if (found != kPartOfKind.end()) {
    return std::string(found->second);
  }
  if (!is_inner(kind)) {
    return kind.name + std::string(kItself);
  }
  size_t outermost = event;
  for (int depth = 0; depth < kMostDepth && parents[outermost] >= 0; ++depth) {
    const auto above = static_cast<size_t>(parents[outermost]);
    if (!is_inner(trace.kinds[trace.events[above].kind])) {
      break;
    }
    outermost = above;
  }
  return trace.kinds[trace.events[outermost].kind].name;
}

void join_small_calls(std::vector<PartSeconds>& ranks) {
  PartSeconds totals;
  double whole = 0;
  for (const PartSeconds& parts : ranks) {
    for (const auto& [name, seconds] : parts) {
      totals[name] += seconds;
      whole += seconds;
    }
  }
  for (PartSeconds& parts : ranks) {
    double few = 0;
    std::erase_if(parts, [&](const auto& part) {
      const bool is_small = part.first.ends_with(kItself) && totals[part.first] < kLeastShareOfACall * whole;
      few += is_small ? std::max(0.0, part.second) : 0;
      return is_small;
    });
    parts[std::string(kOtherCallsPart)] += few;
  }
}

}  // namespace

bool is_io(const trace::KindInfo& kind) {
  static constexpr const char* kPrefixes[] = {"File::", "Dataset::", "MPI_File_", "H5", "ncmpi_", "nc_"};
  return kind.layer != trace::Layer::kApp || std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                                         [&kind](const char* prefix) { return kind.name.starts_with(prefix); });
}

bool is_inner(const trace::KindInfo& kind) {
  return kind.layer == trace::Layer::kEngine || kind.layer == trace::Layer::kStorage;
}

std::vector<bool> events_in_io(const TraceFile& trace) {
  std::vector<bool> in_io = events_in_background(trace);
  for (size_t i = 0; i < in_io.size(); ++i) {
    in_io[i] = !in_io[i] && is_io(trace.kinds[trace.events[i].kind]);
  }
  return in_io;
}

std::vector<PartSeconds> parts_of_spans(const TraceFile& trace, const std::vector<bool>& in_io,
                                        const std::vector<int64_t>& parents) {
  std::vector<PartSeconds> ranks(trace.ranks.size());
  const std::vector<double> own = own_seconds(trace, in_io, parents);
  for (size_t i = 0; i < own.size(); ++i) {
    const Event& event = trace.events[i];
    if (in_io[i] && !trace.kinds[event.kind].overlaps) {
      ranks[static_cast<size_t>(event.rank)][part_of(trace, parents, i)] += own[i];
    }
  }
  join_small_calls(ranks);
  return ranks;
}

std::vector<PartSeconds> parts_of_calls(const TraceFile& trace, const std::vector<bool>& in_io,
                                        const std::vector<int64_t>& parents) {
  std::vector<PartSeconds> ranks(trace.ranks.size());
  const std::vector<double> own = own_seconds(trace, in_io, parents);
  for (size_t i = 0; i < own.size(); ++i) {
    const Event& event = trace.events[i];
    if (in_io[i]) {
      ranks[static_cast<size_t>(event.rank)][trace.kinds[event.kind].name] += own[i];
    }
  }
  return ranks;
}

}  // namespace stria::tool
