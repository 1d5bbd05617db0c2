// Blocks of a plane of cells, one a rank: periodic along x, between walls along z.
//
// Method: block-block. Blocks begin at multiples of kUnit cells, so that three halvings of the
// plane halve every block.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace stria::convection {

/// Blocks begin and end at multiples of this.
inline constexpr int64_t kUnit = 8;

struct Grid {
  MPI_Comm comm = MPI_COMM_SELF;
  int rank = 0;
  int columns = 1;  ///< blocks along x
  int rows = 1;     ///< blocks along z
  int64_t nx = 0;   ///< cells of the plane
  int64_t nz = 0;
  int64_t x0 = 0;  ///< the first cell of this rank's block
  int64_t z0 = 0;
  int64_t mx = 0;  ///< its cells
  int64_t mz = 0;

  int column() const { return rank % columns; }
  int row() const { return rank / columns; }
  int west() const;   ///< the rank to the left; this one where a block spans the plane
  int east() const;   ///< the rank to the right
  int above() const;  ///< MPI_PROC_NULL at a wall
  int below() const;
  bool at_top() const { return row() == 0; }
  bool at_bottom() const { return row() == rows - 1; }

  /// Divides the plane into blocks as square as possible. Throws stria::Error (kInvalidArgument),
  /// alike on all ranks, when there are more ranks than blocks, or sizes are no multiples of kUnit.
  static Grid divide(MPI_Comm comm, int64_t nx, int64_t nz);
  /// Returns the whole plane in this process alone.
  static Grid whole(int64_t nx, int64_t nz);
  /// Returns the same blocks with cells twice as large. \pre all sizes and places are even
  Grid coarser() const;
};

}  // namespace stria::convection
