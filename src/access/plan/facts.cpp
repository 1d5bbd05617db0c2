#include "access/plan/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::access {

using trace::Counter;

void count_transfer(trace::FileCounters& counters, Method method, std::span<const int> aggregators, int rank) {
  if (!trace::is_counting()) {
    return;
  }
  counters.add(method == Method::kTwoPhase ? Counter::kTransfersTwoPhase
               : method == Method::kListIo ? Counter::kTransfersListIo
                                           : Counter::kTransfersOther);
  if (method == Method::kTwoPhase && std::find(aggregators.begin(), aggregators.end(), rank) != aggregators.end()) {
    counters.add(Counter::kAggregated);
  }
}

void state_method(uint16_t trace_id, Method method, const std::string& reason, std::span<const int> aggregators) {
  if (!trace::is_counting()) {
    return;
  }
  const bool collective = method == Method::kTwoPhase;
  trace::Recorder& recorder = trace::Recorder::instance();
  recorder.set_fact(trace_id, "method", method_name(method));
  recorder.set_fact(trace_id, collective ? "why collective" : "why not collective", reason);
  recorder.set_fact(trace_id, "aggregators", collective ? fmt::format("{}", fmt::join(aggregators, ",")) : "");
}

void state_hints(uint16_t trace_id, const ResolvedHints& hints) {
  if (!trace::is_counting()) {
    return;
  }
  for (const auto& [name, value] : effective_hints(hints)) {
    trace::Recorder::instance().set_fact(trace_id, "hint " + name, value);
  }
}

}  // namespace stria::access
