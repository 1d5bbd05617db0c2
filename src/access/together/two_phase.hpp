// Two-phase collective I/O: ranks bring the bytes of a contiguous file domain together at an
// aggregator, which moves them in large requests.
//
// Problem: pieces too small or too scattered for the storage, too many writers.
// Method (Thakur 1995; aggregators and buffer sizes as Yu 2008 tunes them): each rank sends its
// *file description* once to every aggregator that it meets (only where it begins and ends, if it
// is a long list of irregular pieces: those of a round then come with the round); then round by
// round the ranks of the aggregator's node pack straight into its buffer, which is shared memory,
// ranks of other nodes send packed messages, and the aggregator writes the buffer while everybody
// packs the next round into its twin. Holes stay what they are (window_writer.hpp). Cost a rank and
// round: one message each way to each aggregator met; memory: description + two half collective
// buffers on aggregators; of lists what meets one buffer.
#pragma once

#include "access/plan/plan.hpp"
#include "access/request/request.hpp"
#include "access/together/gathered_requests.hpp"

namespace stria::access {

/// Writes all ranks' streams. Collective: yes; the error is local to the ranks that met it
/// (others get kAborted or success): agree on it. `direct_file`: the same file past the page
/// cache, or null.
Status write_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                       storage::File* direct_file = nullptr);

/// The same with an outcome that is the same on every rank: the error of the rank that met it, with
/// its number, and for each rank the bytes of its own, the first of its request without a gap, that
/// are known to be in the file. Costs a small reduction; after a failure a message to each
/// contributor of each aggregator. `kept`: what stays from one operation to the next, or null.
/// `gathered`: every rank's request, which spares the exchange of descriptions, or null; null on
/// every rank or on none. Collective: yes.
Moved write_two_phase_agreed(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes,
                             StreamSource& source, KeptBuffers* kept = nullptr, const GatheredRequests* gathered = nullptr);

/// Reads all ranks' streams as far as the file goes. `kept`, `gathered`: as above. Collective: yes;
/// errors as in write_two_phase.
Moved read_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
                     KeptBuffers* kept = nullptr, const GatheredRequests* gathered = nullptr);

}  // namespace stria::access
