#include "viewer/moving_kinds.hpp"

#include <algorithm>

namespace stria::tool {

Moves moves_of(const std::string& name) {
  auto contains = [&name](const char* part) { return name.find(part) != std::string::npos; };
  return contains("write") || contains("put")  ? Moves::kWrite
         : contains("read") || contains("get") ? Moves::kRead
                                               : Moves::kNothing;
}

std::vector<Moves> moving_kinds(const trace::TraceFile& trace) {
  std::vector<bool> has_bytes(trace.kinds.size(), false);
  for (const trace::Event& event : trace.events) {
    has_bytes[event.kind] = has_bytes[event.kind] || event.bytes > 0;
  }
  std::vector<Moves> moves(trace.kinds.size(), Moves::kNothing);
  for (trace::Layer layer : {trace::Layer::kStorage, trace::Layer::kEngine, trace::Layer::kLibrary, trace::Layer::kApp}) {
    for (size_t kind = 0; kind < moves.size(); ++kind) {
      if (trace.kinds[kind].layer == layer && has_bytes[kind]) {
        moves[kind] = moves_of(trace.kinds[kind].name);
      }
    }
    if (std::any_of(moves.begin(), moves.end(), [](Moves one) { return one != Moves::kNothing; })) {
      break;
    }
  }
  return moves;
}

}  // namespace stria::tool
