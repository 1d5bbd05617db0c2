// Filling guard cells, also where the refinement jumps.
//
// Problem: every block needs four layers of cells of whatever surrounds it, at its own cell size.
// Method: same level: copy; finer neighbour: restrict its cells; coarser neighbour: gather a coarse
// picture of the block's surroundings (itself restricted, its neighbours of the same level
// restricted, the coarse ones copied) and prolong from it; outside the domain: boundary conditions.
// It reads interiors only, so the result depends neither on the order of the blocks nor on the
// number of ranks. The method is that of PARAMESH (MacNeice et al., Comput. Phys. Commun. 126,
// 2000), except that no parent blocks are stored.
// Cost: proportional to the guard cells.
#pragma once

#include <span>

#include "mesh/block_shape.hpp"
#include "mesh/ghost_exchange.hpp"
#include "mesh/neighbors.hpp"
#include "mesh/transfer.hpp"

namespace stria::flash {

class GuardFill {
 public:
  GuardFill(const Domain& domain, const BlockShape& shape, const VariableSet& variables);

  /// Fills the transferred variables of all guard cells of the local blocks.
  /// \param leaves local leaves, then ghosts \param exchange holds the ghosts' cells
  void run(std::span<const Leaf> leaves, const NeighborTable& neighbors, const GhostExchange& exchange, double* unk);

 private:
  struct Block;
  void copy_same(const Block& block, const Direction& o, const CellSource& source) const;
  void restrict_fine(const Block& block, const Direction& o, std::span<const int32_t> children, const GhostExchange& exchange,
                     const double* unk) const;
  void gather_coarse(const Block& block, const GhostExchange& exchange, const double* unk);
  void prolong(const Block& block, const Direction& o) const;
  CellBox guard_box(const Direction& o) const;
  CellBox coarse_box(const Direction& o, int rim) const;

  Domain domain_;
  BlockShape shape_;
  VariableSet variables_;
  std::vector<int> unk_index_;
  std::vector<int> compact_index_;
  CoarseBuffer coarse_;
};

}  // namespace stria::flash
