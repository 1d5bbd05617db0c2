// Memory that the ranks of a node share.
//
// Problem: MPI_Win_allocate_shared blocks and spins inside MPI, and MPI_Win_free is one more
// blocking collective. When the shared-memory mount is full, the first touch of a page kills the
// process with SIGBUS.
// Method: the first rank of the node makes an anonymous memory file (memfd), which the others open
// through /proc and map. They check by a random name, device and number that it is that file,
// because the same path may lead to another process's file where each rank runs in a container with
// process numbers of its own. Each rank allocates the pages of its own part by fallocate, which
// reports a lack of memory as an error and takes the pages from the owner's NUMA node.
// Cost: a broadcast and two small reductions over the node, and the kernel's zeroing of the pages.
// Freeing is local. A job that is killed leaves nothing behind, because the memory has no name.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Allocates `bytes` for this rank, in memory that all ranks of `node` map; `node` holds the ranks
/// of one node. Errors are the same on all of them. Collective: over `node`.
Result<std::shared_ptr<SharedBuffer>> allocate_node_memory(MPI_Comm node, int64_t bytes);

/// Replaces `node`, the ranks that MPI takes for one node, by those of them that can share memory
/// in this way with this rank, and number processes as it does. Ranks keep their order. Cost: a
/// broadcast and a reduction where all can share. Collective: over `node`.
void keep_ranks_that_share(MPI_Comm& node);

}  // namespace stria
