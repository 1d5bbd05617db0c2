// Carrying block data over from an old mesh to an adapted one, rank by rank.
//
// Method: old and new leaves of a rank cover the same space in the same order, and are walked side
// by side. A leaf that stayed is copied, a new child is prolonged from its parent's cells, a new
// parent is restricted from its children's. The integrals of density, and of density times the
// per-mass variables, are conserved to round-off.
#pragma once

#include <span>
#include <vector>

#include "mesh/block_shape.hpp"
#include "mesh/leaf.hpp"
#include "mesh/variables.hpp"
#include "stria/status.hpp"

namespace stria::flash {

/// Blocks of a rank before or after: their leaves and cells. Old blocks have their guard cells
/// filled.
struct LocalBlocks {
  std::span<const Leaf> leaves;
  double* unk = nullptr;
};

/// Fills the interiors of `to` from `from`: all variables of blocks that stayed, the transferred
/// ones of blocks that changed.
/// Errors: kInternal when a leaf changed by more than one level.
Status remap(const BlockShape& shape, const VariableSet& variables, const LocalBlocks& from, const LocalBlocks& to);

}  // namespace stria::flash
