// Measures a phase as long as the object lives, and records it as a span from level library on. The
// two readings of the clock take about 50 ns.
#pragma once

#include <chrono>

#include "stria/phases.hpp"
#include "trace/record/span.hpp"

namespace stria {

class PhaseTimer {
 public:
  PhaseTimer(PhaseTimes& times, Phase phase) : seconds_(times[phase]), span_(trace::kind(phase)) {}
  ~PhaseTimer() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  trace::Span span_;
};

}  // namespace stria
