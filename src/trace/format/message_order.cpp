#include "trace/format/message_order.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "trace/events/kinds.hpp"

namespace stria::trace {

namespace {

constexpr int64_t kShiftMaxNs = 10'000'000'000;

struct Sides {
  std::vector<int64_t> sent, arrived;  ///< when the sends began, and when the receives ended
};

int kind_index(const TraceFile& trace, BuiltIn built_in) {
  const std::string& name = built_in_kinds()[static_cast<size_t>(built_in)].name;
  const auto found =
      std::find_if(trace.kinds.begin(), trace.kinds.end(), [&](const KindInfo& kind) { return kind.name == name; });
  return found == trace.kinds.end() ? -1 : static_cast<int>(found - trace.kinds.begin());
}

/// Returns the shortest time of a message for each pair (from, to); negative when a message arrived
/// too early.
std::map<std::pair<int, int>, int64_t> shortest_times(const TraceFile& trace) {
  const int send = kind_index(trace, BuiltIn::kSend);
  const int receive = kind_index(trace, BuiltIn::kReceive);
  std::map<std::tuple<int, int, int64_t>, Sides> messages;
  for (const Event& event : trace.events) {
    if (event.peer < 0 || event.peer == event.rank) {
      continue;
    }
    if (event.kind == send) {
      messages[{event.rank, event.peer, event.offset}].sent.push_back(event.begin_ns);
    } else if (event.kind == receive) {
      messages[{event.peer, event.rank, event.offset}].arrived.push_back(event.end_ns);
    }
  }
  std::map<std::pair<int, int>, int64_t> shortest;
  for (auto& [key, sides] : messages) {
    if (sides.sent.size() != sides.arrived.size()) {
      continue;  // recorded on one side only
    }
    int64_t& least =
        shortest.try_emplace({std::get<0>(key), std::get<1>(key)}, std::numeric_limits<int64_t>::max()).first->second;
    for (size_t i = 0; i < sides.sent.size(); ++i) {
      least = std::min(least, sides.arrived[i] - sides.sent[i]);
    }
  }
  return shortest;
}

}  // namespace

std::vector<int64_t> message_shifts(const TraceFile& trace) {
  std::vector<int64_t> shifts(trace.ranks.size());
  const auto shortest = shortest_times(trace);
  for (size_t round = 0; round <= trace.ranks.size(); ++round) {
    bool changed = false;
    for (const auto& [pair, least] : shortest) {
      const int64_t from = shifts[static_cast<size_t>(pair.first)];
      int64_t& to = shifts[static_cast<size_t>(pair.second)];
      if (least + to - from < 0) {
        to = from - least;
        changed = true;
        if (to > std::clamp<int64_t>(trace.ranks[static_cast<size_t>(pair.second)].clock_error_ns, 0, kShiftMaxNs) + 1000) {
          return std::vector<int64_t>(trace.ranks.size());
        }
      }
    }
    if (!changed) {
      return shifts;
    }
  }
  return std::vector<int64_t>(trace.ranks.size());
}

}  // namespace stria::trace
