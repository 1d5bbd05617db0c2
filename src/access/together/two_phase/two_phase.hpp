// Two-phase collective I/O: ranks bring the bytes of a contiguous file domain together at an
// aggregator, which moves them in large requests.
//
// Problem: pieces are too small or too scattered for the storage, or there are too many writers.
// Method (Thakur 1995; aggregators and buffer sizes as Yu 2008 tunes them): each rank sends its
// *file description* once to every aggregator that it meets. Of a long list of irregular pieces it
// sends only the beginning and the end; the pieces of a round then come with the round. Round by
// round, ranks of the aggregator's node pack straight into its buffer, which is shared memory, and
// ranks of other nodes send packed messages. The aggregator writes the buffer while the ranks pack
// the next round into its twin. Holes stay as they are (window_writer.hpp). Cost per rank and
// round: one message each way to each aggregator met.
// Memory: the description, and two half collective buffers on aggregators; of lists, what
// meets one buffer.
#pragma once

#include "access/context/context.hpp"
#include "access/plan/plan.hpp"
#include "access/together/domains/gathered_requests.hpp"
#include "access/together/exchange/kept_buffers.hpp"

namespace stria::access {

/// Says what a collective operation is given besides the request; null where there is none.
struct TwoPhaseAids {
  storage::File* direct_file = nullptr;  ///< a write's: the same file past the page cache
  KeptBuffers* kept = nullptr;           ///< what stays from one operation to the next
  /// Every rank's request, which spares the exchange of descriptions; null on every rank or on
  /// none.
  const GatheredRequests* gathered = nullptr;
};

/// Writes all ranks' streams. Collective: yes; the error is local to the ranks that met it
/// (others get kAborted or success): agree on it.
Status write_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                       const TwoPhaseAids& aids = {});

/// Does the same with an outcome that is the same on every rank: the error of the rank that met it,
/// with its number. The bytes are each rank's own: those of its request before the first that is
/// not known to be in the file. Costs a small reduction, and after a failure a message to each
/// contributor of each aggregator. Collective: yes.
Moved write_two_phase_agreed(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes,
                             StreamSource& source, const TwoPhaseAids& aids = {});

/// Reads all ranks' streams as far as the file goes. Collective: yes; errors as in write_two_phase.
Moved read_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
                     const TwoPhaseAids& aids = {});

}  // namespace stria::access
