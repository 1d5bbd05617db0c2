// Solves (d - div w grad) x = b on the blocks of a grid: the implicit half of diffusion.
//
// Problem: the usual libraries are packaged for one MPI, and their sums depend on the
// number of ranks, so that a run restarted elsewhere goes another way.
// Method: geometric multigrid (Brandt, Math. Comp. 31, 1977): red-black Gauss-Seidel, averages
// down, values up. Three levels are divided like the grid; the fourth, of 1/64 of the cells, is
// gathered on every rank, which solves it by itself. A cell's new value follows from its
// neighbours' alone, in an order by colours, and the end is decided by a maximum: the result is the
// same bit by bit on any number of ranks.
// Cost: about 60 operations a cell and cycle; 15 exchanges with neighbours and a gather a cycle.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "grid/field.hpp"

namespace stria::convection {

class Multigrid {
 public:
  explicit Multigrid(const Grid& grid);
  ~Multigrid();

  /// Return the coefficients and the right side of the cells, to be filled in before solve().
  /// `west(j, i)` couples a cell with (j, i - 1), `up` with (j - 1, i), up to one beyond the block;
  /// at a wall `up` couples with the value 0, half a cell away.
  Field& diagonal();
  Field& west();
  Field& up();
  Field& right_side();

  /// Solves until the largest residual is `tolerance` of the right side's largest. Returns the
  /// number of cycles; throws stria::Error (kInternal), on all ranks, when 60 aren't enough. The
  /// solution's ghosts are filled. Collective: yes.
  int solve(double tolerance);
  const Field& solution() const;

 private:
  struct Level;
  void coarsen();
  void cycle(size_t index);
  void cycle_whole(size_t index);
  /// Gathers all ranks' blocks of a field, as one.
  void gather(const Grid& grid, const Field& blocks, Field& whole) const;

  std::vector<std::unique_ptr<Level>> divided_;
  std::vector<std::unique_ptr<Level>> whole_;  ///< the rest of the levels, in every rank
  std::vector<std::array<int, 4>> blocks_;     ///< the ranks' blocks in the first: x, z, wide, high
  std::vector<int> counts_, places_;           ///< the counts of their cells when gathered
};

}  // namespace stria::convection
