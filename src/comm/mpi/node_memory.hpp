// Memory that the ranks of a node share.
//
// Problem: MPI_Win_allocate_shared blocks (and spins) inside MPI, its MPI_Win_free is one more blocking collective, and when
// the shared-memory mount is full the first touch of a page kills the process with SIGBUS. Method: the node's first rank makes
// an anonymous memory file (memfd) that the others open through /proc and map, once they know by a random name, device and
// number that it is that file: where processes are numbered otherwise (a container for each rank) the same path leads to a
// stranger's. Each rank allocates the pages of its own part
// with fallocate: that reports a lack of memory as an error, and the pages come from the owner's NUMA node. Cost: a broadcast
// and two small reductions over the node, and the kernel's zeroing of the pages. Freeing is local, and nothing is left behind
// by a killed job because the memory has no name.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Allocates `bytes` of this rank's own in memory that all ranks of `node` (one node's ranks) map. Errors are the same on the
/// whole node. Collective: over `node`.
Result<std::shared_ptr<SharedBuffer>> allocate_node_memory(MPI_Comm node, int64_t bytes);

/// Divides ranks that MPI says are on one node into those that can really share memory so, in place of `node`; ranks keep their
/// order. Cost: a broadcast and a reduction where all can. Collective: over `node`.
void keep_ranks_that_share(MPI_Comm& node);

}  // namespace stria
