// Finds out which ranks share a node, and what the nodes are called.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace stria {

/// The nodes of a communicator's ranks, numbered in the order of their first ranks.
struct RankNodes {
  std::vector<int> of_rank;
  std::vector<std::string> hosts;  ///< by node
};

/// Makes the communicator of the ranks on this rank's node, or returns `world` where these are all:
/// an MPI has few communicators (MPICH 2,048), and a program may open many files.
/// Collective: over `world`.
MPI_Comm make_node_communicator(MPI_Comm world);

/// Finds the nodes of the ranks of `world`; `node` is what make_node_communicator() has returned.
/// Their names are asked for now, while all ranks can be reached; a rank that later waits in vain
/// can't ask. Collective: over `world`.
RankNodes find_nodes(MPI_Comm world, MPI_Comm node);

}  // namespace stria
