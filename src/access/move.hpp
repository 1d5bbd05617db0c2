// Moves bytes between memory and a file: the one entry of this layer.
//
// A request is a list of lanes (access/request/request.hpp). MPI-IO's is one lane with one stream:
// file_type is the filetype, tiled as often as the request needs (Datatype::contiguous),
// displacement the view's displacement plus the extents of the tiles left out before, skip_bytes
// and bytes the part of the tiles' stream that the request moves. Where the tiled type is not
// sorted (tiles that interleave), there is one stream a tile; streams come by increasing first
// offset, and those of one write don't overlap.
//
// Source and sink see positions of the packed streams: 0 is the first byte of the request. A file
// that is only written must be open for reading too where data sieving is to write: it reads what
// lies between. One storage::File is used by one call at a time. A write that goes around this
// header holds WriteLock::plain (write_lock.hpp).
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "access/context/context.hpp"
#include "access/plan/planner.hpp"
#include "access/request/endpoint.hpp"
#include "access/together/kept.hpp"

namespace stria::access {

/// This rank by itself, by a plan of its own. Nothing is sent, and any thread may call. Collective:
/// no; the error is local.
struct Independently {};

/// All ranks by one plan, which they have made of the same shape. It leads through no windows of a
/// node (kUnsupported): those belong to Collectively. The error is this rank's own:
/// agree on it; bytes of a write count after a success only. Only the plan's aggregators need a
/// file where it goes through some. Collective: where the plan goes through aggregators.
struct AsPlanned {
  const Plan& plan;
  WriteAids aids = {};
};

/// All ranks, which agree on the plan before and on the outcome afterwards: the status is the same
/// on every rank (the error of the rank that met it, with its number), bytes are each rank's own.
/// Where a rank passes instead (together/node/short_calls.hpp), each has a status of its own. A
/// rank with nothing to move passes lanes without streams; the number of lanes is the same on every
/// rank, their hulls are agreed on. The file is open on every rank. A rank whose own earlier
/// independent writes may sieve finishes them first. Collective: yes.
struct Collectively {
  /// One an open file and rank, which spares each operation the allocation of shared memory. All
  /// ranks pass one that has seen the same operations, or none does.
  Kept* kept = nullptr;
};

using Coordination = std::variant<Independently, AsPlanned, Collectively>;

/// Says what a transfer did on this rank, and by which method. AsPlanned leaves out what the plan
/// tells.
struct MoveReport {
  Status status = {};
  /// The same as Moved::bytes; a read's end where the file ends, and nothing past it is unpacked.
  int64_t bytes = 0;
  Method method = Method::kAutomatic;
  std::string reason = {};            ///< why this method
  std::vector<int> aggregators = {};  ///< ranks; of two-phase
};

/// Moves this rank's streams.
MoveReport move(Context& context, std::span<const Lane> lanes, Endpoint endpoint, const Coordination& coordination);

}  // namespace stria::access
