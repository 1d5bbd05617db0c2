#include "trace/record/recorder_link.hpp"

#include "trace/counters/counters.hpp"
#include "trace/events/kinds.hpp"
#include "trace/record/levels.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::trace {

namespace {

constinit std::atomic<const RecorderLink*> in_use = nullptr;

// Returns a number that is likely to change with any change of the recorder's objects, of the kinds
// or of the counters.
constexpr uint64_t recorder_layout() {
  uint64_t layout = 0;
  for (const uint64_t part : {uint64_t{sizeof(Recorder)}, uint64_t{sizeof(Ring)}, uint64_t{sizeof(FileCounters)},
                              uint64_t{sizeof(Record)}, uint64_t{kBuiltInCount}, uint64_t{kCounterCount}}) {
    layout = layout * 1'000'003 + part;
  }
  return layout;
}

}  // namespace

RecorderLink offered_link() {
  return {recorder_layout(), &Recorder::instance, &ring, &follow_levels};
}

bool use_link(const RecorderLink& link) {
  if (link.layout != recorder_layout()) {
    return false;
  }
  in_use.store(&link);
  link.follow_levels(recorded_layers);
  return true;
}

const RecorderLink* used_link() {
  return in_use.load(std::memory_order_relaxed);
}

}  // namespace stria::trace
