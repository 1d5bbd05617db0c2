#include "stria/phases.hpp"

#include <numeric>

namespace stria {

const char* phase_name(Phase phase) {
  static constexpr std::array<const char*, kPhaseCount> kNames = {"open",  "metadata", "pack", "unpack", "exchange",
                                                                  "write", "read",     "sync", "commit"};
  return kNames[static_cast<size_t>(phase)];
}

double PhaseTimes::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace stria
