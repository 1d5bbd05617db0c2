// Picks the access method of a collective operation from what the storage can do, the shape of the
// request and the hints.
//
// Rules, in order (the reason is kept and can be asked for):
//   1. a hint that names the method or disables collective buffering decides;
//   2. one rank: list I/O;
//   3. storage of the node's own and regions that lie far apart: list I/O;
//   4. many lanes of one node and servers that take lists: each rank sends its own, unless pieces
//      are so short that a list of them is as long as they are;
//   5. servers that take datatypes: each rank sends its own, where that costs the servers less than
//      an exchange costs the ranks (server_costs.hpp);
//   6. storage of the node's own and reads whose short pieces lie close, or of which no rank's lie
//      between those of another: list I/O; each rank sieves its own (sieves_reads());
//   7. short pieces: two-phase; on one node by windows, where the ranks share them and no hint asks
//      for aggregators;
//   8. storage of the node's own: list I/O, since exchanging long pieces would only add a copy;
//   9. one long stretch per rank, at which nodes hardly disturb each other: list I/O;
//  10. otherwise two-phase.
// Where rule 3, 8 or 9 would serve a rank's own request whatever the others have, it moves its
// bytes at once, before it hears of them: one piece on storage of the node's own, one long stretch
// elsewhere, and on one node also long pieces, and in a write pieces by rule 5: no other rank has
// the same bytes, so that what is cheap for each is cheap for all. So it does in a read of a file's
// session by rule 6 or 8 (reads_at_once()).
#pragma once

#include <cstdint>
#include <string>

#include "access/plan/plan.hpp"
#include "access/request/hints.hpp"
#include "comm/comm.hpp"
#include "storage/driver.hpp"

namespace stria::access {

/// The shape of a collective request; sums over all ranks, the same on every rank.
struct RequestShape {
  int64_t total_bytes = 0;
  int64_t piece_count = 0;  ///< pieces of all file types
  bool write = true;
  int64_t hull_bytes = 0;  ///< bytes of all lanes, from the first byte to the last; 0: not known
  bool windows = false;    ///< the ranks share a node and windows there (node_windows.hpp)
  bool apart = false;      ///< no rank has bytes between those of another
  bool described = false;  ///< every rank has the file descriptions of all
  /// Many lanes that are packed together: lists go in batches (batches.hpp).
  bool in_lockstep = false;
  int lane_count = 1;             ///< stretches of the file that the ranks agree on
  int64_t server_cost_bytes = 0;  ///< server_costs.hpp; 0: not known
  bool durable = false;           ///< a sync follows
  /// The bytes from each rank's first piece to its last, lane by lane; 0: not known.
  int64_t span_bytes = 0;
  /// It reaches from the first byte of any rank to the last of any, in one lane; 0: not known.
  int64_t region_bytes = 0;
};

/// The shape of one rank's own request.
struct IndependentShape {
  bool write = true;
  int64_t bytes = 0;
  int64_t piece_count = 0;
  int64_t span_bytes = 0;    ///< from the first byte to the last
  int64_t list_entries = 0;  ///< the lists in the file types: what a description of them holds
};

/// Tells whether a description of the pieces is shorter on the way than a list of them.
bool is_described_shortly(const IndependentShape& shape);

/// Returns how a rank moves its bytes by itself: by the hints stria_method, romio_ds_read and
/// romio_ds_write; else contiguous bytes as they are, pieces as a datatype where the storage takes
/// one and it is shorter than the list of them, as a list where the storage takes lists as one
/// request, and otherwise the hybrid: neighbours are sieved whose gap costs less than another
/// request. Where the hybrid is asked for, it too sends the datatype if that is shorter. Enabling
/// data sieving by hint asks for the hybrid everywhere: to read gaps that cost more than requests
/// serves nobody. Otherwise writes are sieved only where `may_sieve_writes`. Local.
IndependentPlan plan_independent(const IndependentShape& shape, const storage::Capabilities& capabilities,
                                 const ResolvedHints& hints, bool may_sieve_writes);

/// Tells whether a rank that reads lanes by itself is better off one by one, with the gaps between
/// its pieces: where these are short, a request costs more than what lies between them, and no hint
/// forbids it. Local.
bool sieves_reads(const IndependentShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints);

/// Returns the cost of one more request, or of one more piece where a list is one request, as the
/// number of bytes that could be moved instead.
int64_t request_cost_bytes(const storage::Capabilities& capabilities);

/// Returns what striping_unit, striping_factor, start_iodevice, stria_first_server ask for a new
/// file.
storage::Striping striping_of(const ResolvedHints& hints);

/// Returns the capabilities with what the hints striping_unit, striping_factor and
/// stria_mimic_stripe say instead of the storage.
storage::Capabilities with_hints(storage::Capabilities capabilities, const ResolvedHints& hints);

/// Tells whether a rank should move its part of a collective operation by itself, whatever the
/// others have. `own` is this rank's shape: `windows` where all ranks are on one node, `apart`
/// where it is one stretch. Local.
bool goes_at_once(const RequestShape& own, const storage::Capabilities& capabilities, const ResolvedHints& hints);

/// Tells whether a rank of a collective read should read its bytes by itself, whatever the others
/// have, where nothing but its outcome is told to them: on storage of the node's own, pieces that
/// are long or lie close, unless hints name a method. `own` is this rank's shape. Local.
bool reads_at_once(const RequestShape& own, const storage::Capabilities& capabilities, const ResolvedHints& hints);

/// Makes the plan. The same inputs give the same plan on every rank; `capabilities` must be those
/// that one rank found and sent to the others.
Plan make_plan(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
               const Comm& comm);

/// Returns the aggregators of an operation that goes through some. As make_plan().
ThroughAggregators plan_aggregators(const storage::Capabilities& capabilities, const ResolvedHints& hints, const Comm& comm);

/// Returns all collective buffers of one aggregator together, for requests whose pieces are dense,
/// as most are. As make_plan().
int64_t usual_buffer_bytes(const storage::Capabilities& capabilities, const ResolvedHints& hints, const Comm& comm);

/// Decides how the storage is used for a write. Large durable data goes past the page cache where
/// the storage allows it, because the sync at the end would wait for the same writing.
StorageUse plan_storage(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints);

}  // namespace stria::access
