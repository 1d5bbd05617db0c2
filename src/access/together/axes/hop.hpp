// One step along an axis: every rank sends to ranks that expect it, at most one message to each.
//
// Problem: a message may be long, and its receiver may lack the memory for it. A sparse exchange
// would take a barrier of all ranks besides.
// Method: each sender tells the size, the receiver answers whether it has room, and only then the
// bytes travel. Sides without bytes end after the size.
// Cost: three messages a pair that has bytes, one that has none.
#pragma once

#include <span>

#include "access/failure/memory_reserve.hpp"
#include "access/together/axes/parcels.hpp"
#include "comm/comm.hpp"

namespace stria::access {

/// The two sides of a hop. Whom a rank names among `to` names it among `from`.
struct Hop {
  std::span<const int> to;
  std::span<const int> from;
};

/// Sends what is in `outbox`, for ranks of `hop.to` and this one; it is empty afterwards. `arrived`
/// becomes what came, by the order of `hop.from`. Memory that runs out is noted in `memory`; the
/// other ranks go on. Collective: over the ranks of the hop.
void travel(Comm& comm, MemoryReserve& memory, const Hop& hop, Outbox& outbox, Comm::Messages& arrived);

}  // namespace stria::access
