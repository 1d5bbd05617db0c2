// Lays out the spans of each thread on lanes on which they nest strictly, as other viewers require.
//
// Kinds that may overlap others (writes under way, messages) go to lanes of their own, as
// many as are under way at once. All others stay on their thread's first lane, unless they
// don't nest there.
// Cost: the number of events times the lanes of a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

struct Lane {
  int rank = 0;
  int thread = 0;
  int number = 0;              ///< 0: the thread itself; from 1: what overlaps
  std::vector<size_t> events;  ///< indices, by begin, a parent before its children
};

/// Makes lanes by rank, thread and number; each event is on one.
std::vector<Lane> lay_out(const trace::TraceFile& trace);

/// Calls enter(event) and leave(event) in order of time, each leave before the enters
/// that follow it.
template <typename Enter, typename Leave>
void walk(const trace::TraceFile& trace, const Lane& lane, Enter enter, Leave leave) {
  std::vector<size_t> open;
  for (const size_t index : lane.events) {
    const trace::Event& event = trace.events[index];
    while (!open.empty() &&
           (trace.events[open.back()].end_ns < event.end_ns || trace.events[open.back()].end_ns <= event.begin_ns)) {
      leave(trace.events[open.back()]);
      open.pop_back();
    }
    enter(event);
    open.push_back(index);
  }
  for (; !open.empty(); open.pop_back()) {
    leave(trace.events[open.back()]);
  }
}

}  // namespace stria::tool
