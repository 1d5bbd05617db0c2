// Two-phase collective I/O: ranks bring the bytes of a contiguous file domain together at an aggregator, which moves them in
// large requests.
//
// Problem: pieces too small or too scattered for the storage, too many writers. Method (Thakur 1995; aggregators and buffer
// sizes as Yu 2008 tunes them): each rank sends its *file description* once to every aggregator that it meets (only where it
// begins and ends, if it is a long list of irregular pieces: those of a round then come with the round); then round by
// round the ranks of the aggregator's node pack straight into its buffer, which is shared memory, ranks of other nodes send
// packed messages, and the aggregator writes the buffer while everybody packs the next round into its twin. Holes stay what
// they are (window_writer.hpp). Cost a rank and round: one message each way to each aggregator met; memory: description + two
// half collective buffers on aggregators; of lists what meets one buffer.
#pragma once

#include "access/request.hpp"

namespace stria::access {

/// How a collective operation is spread out; the same on every rank.
struct TwoPhasePlan {
  std::vector<int> aggregators;  ///< their ranks
  int64_t unit_bytes = 4096;     ///< file domains begin at multiples of this
  int stripe_count = 1;          ///< above 1: units are stripes over so many servers, and dealt out (stripe_deal.hpp)
  bool shared_memory = true;
  bool gather_on_nodes = false;  ///< ranks of a node speak through one of them to an aggregator elsewhere (node_delegates.hpp)
  /// A rank whose file types list more entries than this sends an aggregator the pieces of one round at a time.
  int64_t most_entries_at_once = 16 << 10;
};

/// Writes all ranks' streams. Collective: yes; the error is local to the ranks that met it (others get kAborted or success):
/// agree on it.
Status write_two_phase(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSource& source);

/// The same with an outcome that is the same on every rank: the error of the rank that met it, with its number, and for each
/// rank the bytes of its own, the first of its request without a gap, that are known to be in the file. Costs a small
/// reduction; after a failure a message to each contributor of each aggregator. Collective: yes.
Moved write_two_phase_agreed(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSource& source);

/// Reads all ranks' streams as far as the file goes. Collective: yes; errors as in write_two_phase.
Moved read_two_phase(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSink& sink);

}  // namespace stria::access
