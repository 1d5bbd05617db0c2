#include "tracing/lanes.hpp"

namespace stria::tool {

namespace {

using trace::Event;

/// The lanes of one thread, whose events come in the order in which they begin.
class Layout {
 public:
  explicit Layout(const trace::TraceFile& trace) : trace_(trace) {}

  void add(size_t index) {
    const Event& event = trace_.events[index];
    size_t number = trace_.kinds[event.kind].overlaps ? 1 : 0;
    while (number < ends_.size() && !fits(ends_[number], event)) {
      ++number;
    }
    while (ends_.size() <= number) {
      ends_.emplace_back();
      lanes_.push_back({event.rank, event.thread, static_cast<int>(lanes_.size()), {}});
    }
    ends_[number].push_back(event.end_ns);
    lanes_[number].events.push_back(index);
  }
  void move_to(std::vector<Lane>& all) {
    for (Lane& lane : lanes_) {
      if (!lane.events.empty()) {
        all.push_back(std::move(lane));
      }
    }
    lanes_.clear();
    ends_.clear();
  }

 private:
  /// Takes ended spans off the stack; true when the event nests in what is still open.
  static bool fits(std::vector<int64_t>& open_ends, const Event& event) {
    while (!open_ends.empty() && open_ends.back() <= event.begin_ns && open_ends.back() < event.end_ns) {
      open_ends.pop_back();
    }
    return open_ends.empty() || event.end_ns <= open_ends.back();
  }

  const trace::TraceFile& trace_;
  std::vector<std::vector<int64_t>> ends_;  ///< the ends of the open spans, by lane
  std::vector<Lane> lanes_;
};

}  // namespace

std::vector<Lane> lay_out(const trace::TraceFile& trace) {
  std::vector<Lane> lanes;
  Layout layout(trace);
  for (size_t i = 0; i < trace.events.size(); ++i) {
    if (i > 0 && (trace.events[i].rank != trace.events[i - 1].rank || trace.events[i].thread != trace.events[i - 1].thread)) {
      layout.move_to(lanes);
    }
    layout.add(i);
  }
  layout.move_to(lanes);
  return lanes;
}

}  // namespace stria::tool
