// Moving blocks between ranks after a new partition of the same leaves.
//
// Method: both partitions are runs of the same order. So each pair of ranks exchanges at most one
// run of blocks, in one message. Interiors only: the guard cells are filled afterwards.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "mesh/block_shape.hpp"

namespace stria::flash {

/// Moves the interiors of all variables from the old partition to the new one.
/// \param from_first, to_first index of each rank's first leaf, and the number of leaves.
/// Shape: [ranks + 1]
/// \param from blocks of this rank in the old partition \param to in the new one, as
/// large as it must be
/// Collective: yes.
void redistribute(MPI_Comm comm, const BlockShape& shape, std::span<const int64_t> from_first,
                  std::span<const int64_t> to_first, const double* from, double* to);

}  // namespace stria::flash
