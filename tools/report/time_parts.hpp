// The parts that the time in I/O of a run is made of.
//
// Every moment of a rank in I/O belongs to one part. With all spans that is decided by the innermost span: standing still for
// other ranks, for the node's turn or for shared memory are parts of their own, whatever phase they lie in; requests to the
// storage count as writing, reading or syncing; all else belongs to the phase around it, or to the call itself. Without them
// the parts are the phases that the counters know. A trace of wrapped libraries has neither: its parts are the kinds of calls,
// each without the calls inside it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_file.hpp"

namespace stria::tool {

inline constexpr std::string_view kWaitingPart = "waiting for other ranks";
inline constexpr std::string_view kTurnPart = "waiting for a turn";
inline constexpr std::string_view kSharingPart = "sharing memory";
inline constexpr std::string_view kOutsidePart = "outside the phases";
inline constexpr std::string_view kOtherCallsPart = "other calls";
/// Behind the name of a call: its time outside of all spans inside it.
inline constexpr std::string_view kItself = " itself";

/// Seconds by part, of one rank.
using PartSeconds = std::map<std::string, double, std::less<>>;

/// Whether spans of that kind are I/O: calls of Stria and of the wrapped libraries are, a program's own regions are not.
bool is_io(const trace::KindInfo& kind);
/// Whether it lies below the calls of applications and libraries.
bool is_inner(const trace::KindInfo& kind);

/// By rank; every span of the engine is there.
std::vector<PartSeconds> parts_of_spans(const trace::TraceFile& trace, const std::vector<int64_t>& parents);
/// By rank: the time in each kind of call, without the calls inside it.
std::vector<PartSeconds> parts_of_calls(const trace::TraceFile& trace, const std::vector<int64_t>& parents);

}  // namespace stria::tool
