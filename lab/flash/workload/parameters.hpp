// The parameters of the FLASH I/O benchmark: how many blocks of which size on which rank, and where
// they lie in the file.
// Problem: every rank holds a different number of AMR blocks; the file holds all of them
// in rank order.
// Method: an exclusive prefix sum over the ranks.
// Cost: one scan and one reduction. (Ross 2001, Latham 2012)
#pragma once

#include <mpi.h>

#include <cstdint>

#include "stria/status.hpp"

namespace stria::flash {

/// The size of the benchmark. The defaults are those of the original FLASH I/O benchmark.
struct WorkloadParameters {
  int64_t nxb = 8;              ///< interior cells of a block along each of its three sides
  int64_t nvar = 24;            ///< variables per cell
  int64_t blocks_per_rank = 0;  ///< blocks on every rank; 0 means 80 + mod(rank, 3)
  int64_t guard_cells = 4;      ///< layers of guard cells around a block
  int64_t max_blocks = 0;       ///< blocks to allocate on every rank; 0 means as many as are used

  int64_t padded_side() const { return nxb + 2 * guard_cells; }
  int64_t cells_per_block() const { return nxb * nxb * nxb; }
  int64_t padded_cells_per_block() const { return padded_side() * padded_side() * padded_side(); }

  /// Returns the number of blocks that `rank` holds.
  int64_t blocks_on(int rank) const { return blocks_per_rank > 0 ? blocks_per_rank : 80 + rank % 3; }
};

/// Checks that the parameters can be used; the message names the one that cannot.
/// \errors kInvalidArgument
Status validate(const WorkloadParameters& parameters);

/// Says where the blocks of one rank lie among the blocks of all ranks.
struct BlockPartition {
  int64_t local = 0;  ///< blocks on this rank
  int64_t first = 0;  ///< global index of this rank's first block
  int64_t total = 0;  ///< blocks on all ranks
};

/// Counts the blocks before this rank and in all. Collective: yes, over `comm`.
BlockPartition partition_blocks(const WorkloadParameters& parameters, MPI_Comm comm);

/// Spreads `total` blocks over the ranks as evenly as possible, in order. Collective: no.
BlockPartition spread_blocks(int64_t total, MPI_Comm comm);

/// Useful bytes of `variable_count` variables of all blocks: interior cells only,
/// `element_bytes` per cell.
inline int64_t useful_bytes(const WorkloadParameters& parameters, int64_t total_blocks, int64_t variable_count,
                            int64_t element_bytes) {
  return total_blocks * variable_count * parameters.cells_per_block() * element_bytes;
}

}  // namespace stria::flash
