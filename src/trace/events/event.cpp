#include "trace/events/event.hpp"

namespace stria::trace {

const char* layer_name(Layer layer) {
  static constexpr const char* kNames[kLayerCount] = {"app", "library", "engine", "storage"};
  return kNames[static_cast<size_t>(layer)];
}

}  // namespace stria::trace
