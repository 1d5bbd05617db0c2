// Finds where the mesh is too coarse: the modified second-derivative error estimator.
//
// Method: Loehner (Comput. Methods Appl. Mech. Eng. 61, 1987) as FLASH uses it (Fryxell et al.,
// ApJS 131, 2000): the second derivatives in all pairs of dimensions, divided by the first
// ones. A filter on the mean keeps ripples from counting. The error has no dimension and is
// between 0 and 1.
// Cost: about 30 operations per cell, dimension pair and variable.
#pragma once

#include <vector>

#include "mesh/block_shape.hpp"
#include "mesh/forest.hpp"

namespace stria::flash {

struct RefinementCriteria {
  std::vector<int> variables;  ///< the variables of unk that are looked at
  double refine_above = 0.8;
  double derefine_below = 0.2;
  double filter = 0.01;
};

/// Returns the largest error of variable `v` over the interior cells of a block, from differences
/// over `spacing` cells: 1, or 2 for what the block's parent would see. Reads 2 * spacing guard
/// cells around.
/// \param block first double of the block in unk
double second_derivative_error(const BlockShape& shape, const double* block, int v, double filter, int spacing = 1);

/// Returns what the estimator says about one block. It is refined if any variable wants it. It is
/// coarsened if all variables allow it, and would allow it after coarsening too; otherwise the mesh
/// would flap.
Mark estimate_mark(const BlockShape& shape, const double* block, const RefinementCriteria& criteria);

}  // namespace stria::flash
