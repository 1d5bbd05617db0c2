// The parts into which the time in I/O of a run is divided.
//
// Every moment of a rank in I/O belongs to one part. With all spans, the innermost span decides.
// Waiting for other ranks, for the node's turn, for a commit in the background or for shared memory
// are parts of their own, whatever phase they lie in. What a background thread does takes no time
// from its rank, so that it belongs to no part. Requests to the storage count as writing, reading
// or syncing. All other time belongs to the phase around it, or to the call itself. Without all
// spans, the parts are the phases that the counters know. A trace of wrapped libraries has neither:
// its parts are the kinds of calls, each without the calls inside it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

inline constexpr double kSecondsPerNs = 1e-9;

inline constexpr std::string_view kWaitingPart = "waiting for other ranks";
inline constexpr std::string_view kTurnPart = "waiting for a turn";
inline constexpr std::string_view kBackgroundWaitPart = "waiting for the background";
inline constexpr std::string_view kSharingPart = "sharing memory";
inline constexpr std::string_view kOutsidePart = "outside the phases";
inline constexpr std::string_view kOtherCallsPart = "other calls";
/// Follows the name of a call: its time outside all spans inside it.
inline constexpr std::string_view kItself = " itself";

/// The seconds of one rank by part.
using PartSeconds = std::map<std::string, double, std::less<>>;

/// Tells whether spans of this kind are I/O. Calls of Stria and of the wrapped libraries are; a
/// program's own regions are not.
bool is_io(const trace::KindInfo& kind);
/// Tells whether the kind lies below the calls of applications and libraries.
bool is_inner(const trace::KindInfo& kind);

/// Tells of each event whether it is I/O of its rank, which the program sees: not of a background
/// thread.
std::vector<bool> events_in_io(const trace::TraceFile& trace);

/// Returns the parts by rank of a trace that has every span of the engine. `in_io`: as
/// events_in_io().
std::vector<PartSeconds> parts_of_spans(const trace::TraceFile& trace, const std::vector<bool>& in_io,
                                        const std::vector<int64_t>& parents);
/// Returns the time in each kind of call by rank, without the calls inside it.
std::vector<PartSeconds> parts_of_calls(const trace::TraceFile& trace, const std::vector<bool>& in_io,
                                        const std::vector<int64_t>& parents);

}  // namespace stria::tool
