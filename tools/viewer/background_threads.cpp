#include "viewer/background_threads.hpp"

namespace stria::tool {

bool is_background_work(const trace::KindInfo& kind) {
  return kind.layer == trace::Layer::kEngine && (kind.name == "background write" || kind.name == "background end");
}

std::set<std::pair<int32_t, uint16_t>> background_threads(const trace::TraceFile& trace) {
  std::set<std::pair<int32_t, uint16_t>> threads;
  for (const trace::Event& event : trace.events) {
    if (is_background_work(trace.kinds[event.kind])) {
      threads.emplace(event.rank, event.thread);
    }
  }
  return threads;
}

std::vector<bool> events_in_background(const trace::TraceFile& trace) {
  const std::set<std::pair<int32_t, uint16_t>> threads = background_threads(trace);
  std::vector<bool> lies_there(trace.events.size(), false);
  for (size_t i = 0; i < lies_there.size() && !threads.empty(); ++i) {
    lies_there[i] = threads.contains({trace.events[i].rank, trace.events[i].thread});
  }
  return lies_there;
}

}  // namespace stria::tool
