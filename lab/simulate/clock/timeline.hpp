// Describes what each rank did when, for a picture of a simulated run.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/events/kinds.hpp"

namespace stria::simulate {

struct TimelineSpan {
  double begin_s = 0;
  double end_s = 0;
  int64_t bytes = -1;   ///< -1: none
  int64_t offset = -1;  ///< in the file; -1: none
  int32_t rank = 0;
  trace::BuiltIn kind = trace::BuiltIn::kBarrier;
};

/// The spans stand in the order in which they ended.
using Timeline = std::vector<TimelineSpan>;

}  // namespace stria::simulate
