#include "trace/record/levels.hpp"

#include <array>
#include <cstdlib>

#include "trace/record/recorder.hpp"
#include "trace/record/recorder_link.hpp"
#include "trace/record/span.hpp"

namespace stria::trace {

namespace {

constexpr std::array<const char*, 5> kNames = {"off", "counters", "app", "library", "full"};

constexpr uint32_t bit(Layer layer) {
  return 1U << static_cast<unsigned>(layer);
}

constexpr std::array<uint32_t, 5> kRecorded = {
    0, kCountersBit, kCountersBit | bit(Layer::kApp),
    kCountersBit | bit(Layer::kApp) | bit(Layer::kLibrary) | bit(Layer::kEngine),
    kCountersBit | bit(Layer::kApp) | bit(Layer::kLibrary) | bit(Layer::kEngine) | bit(Layer::kStorage)};

// Where another library that records into this one's trace keeps its recorded_layers, which follow
// the ones here (recorder_link.hpp); null: there is none.
constinit std::atomic<std::atomic<uint32_t>*> follower = nullptr;

// STRIA_TRACE holds from the beginning. A value that is no level is reported when the first
// file is opened.
const bool kBegun = [] {
  const char* name = std::getenv("STRIA_TRACE");
  if (const std::optional<Level> level = parse_level(name == nullptr ? "" : name)) {
    apply_level(*level);
  }
  if (used_link() == nullptr) {
    Recorder::instance();
  }
  return true;
}();

}  // namespace

std::optional<Level> parse_level(const std::string& name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) {
      return static_cast<Level>(i);
    }
  }
  return std::nullopt;
}

const char* level_name(Level level) {
  return kNames[static_cast<size_t>(level)];
}

void apply_level(Level level) {
  recorded_layers.store(kRecorded[static_cast<size_t>(level)], std::memory_order_relaxed);
  if (std::atomic<uint32_t>* layers = follower.load()) {
    layers->store(kRecorded[static_cast<size_t>(level)], std::memory_order_relaxed);
  }
}

void follow_levels(std::atomic<uint32_t>& layers) {
  follower.store(&layers);
  layers.store(recorded_layers.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

Level applied_level() {
  const uint32_t recorded = recorded_layers.load(std::memory_order_relaxed);
  for (size_t i = kRecorded.size(); i-- > 1;) {
    if (recorded == kRecorded[i]) {
      return static_cast<Level>(i);
    }
  }
  return Level::kOff;
}

}  // namespace stria::trace
