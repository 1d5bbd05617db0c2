// Reads and writes through whichever access method suits: what the layers above call.
//
// What a caller must know:
//   - A request is a list of lanes (access/request.hpp). A request of MPI-IO is one lane with one stream: file_type is the
//     filetype, tiled as often as the request needs (Datatype::contiguous), displacement the view's displacement plus the
//     extents of the tiles left out before, skip_bytes and bytes the part of the tiles' stream that the request moves. Where
//     the tiled type is not sorted (tiles that interleave), give one stream a tile; streams come by increasing first offset,
//     and those of one write don't overlap.
//   - StreamSource and StreamSink see positions of the packed stream: 0 is the first byte of the request.
//   - Context::comm serves independent calls only for what is known locally; they never communicate, and may run on another
//     thread than MPI's. One storage::File is used by one call at a time.
//   - A file that is only written must still be opened for reading where data sieving is to write: it reads what lies between.
//   - Context::locks (NodeLocks, made once an open file by all its ranks of a node, also when there is one) and
//   Context::writers
//     (one an open file and rank) let writes be sieved, and keep every write of these ranks that comes through here out of a
//     window that is being sieved. A write that goes around this header must hold WriteLock::plain (write_lock.hpp). A caller
//     that holds an exclusive lock of the file on all that it writes says so (Context::range_locked), as atomic mode does.
//     NodeLocks are not entered twice by one rank for overlapping ranges.
//   - Aggregators of a collective write hold no lock of NodeLocks while they wait for other ranks: a rank whose own earlier
//     independent writes to the file may sieve finishes them before it enters a collective write.
//   - Context::kept (KeptBuffers, one an open file and rank) spares each collective operation the allocation of shared memory.
//     It must be the same on every rank: all pass one that has seen the same operations, or none does.
//   - Counts are true: Moved::bytes of a read ends where the file ends and nothing past it is unpacked; holes of the file are
//     zeros. After a failure it is what is known to have been moved without a gap, from the request's first byte on.
#pragma once

#include <string>
#include <vector>

#include "access/plan/planner.hpp"
#include "access/request/request.hpp"

namespace stria::access {

/// What a transfer did and by which method.
struct Outcome {
  Status status;
  int64_t bytes = 0;  ///< as Moved::bytes
  Method method = Method::kAutomatic;
  std::string reason;                 ///< why this method
  std::vector<int> aggregators = {};  ///< ranks; of two-phase
};

/// Moves this rank's streams by itself, by the method that plan_independent picks. Collective: no; the error is local. Lane
/// extents and groups need not be agreed on.
Outcome write_independent(Context& context, std::span<const Lane> lanes, StreamSource& source);
Outcome read_independent(Context& context, std::span<const Lane> lanes, StreamSink& sink);

/// Moves the streams of all ranks together; a rank with nothing to move passes lanes without streams. The number of lanes is
/// the same on every rank; their extents are agreed on here. `file` must be open on every rank. The status is the same on every
/// rank (the error of the rank that met it, with its number); bytes are each rank's own. Collective: yes.
Outcome write_collective(Context& context, std::span<const Lane> lanes, StreamSource& source);
Outcome read_collective(Context& context, std::span<const Lane> lanes, StreamSink& sink);

}  // namespace stria::access
