#include "mesh/boundary.hpp"

#include "mesh/block_shape.hpp"

namespace stria::flash {
namespace {

// Returns where the guard cell `guard` (1 = next to the side) takes its value from, in cells of
// dimension d.
int donor(Boundary boundary, int side, int guard, int cells) {
  if (boundary == Boundary::kOutflow) {
    return side == 0 ? 0 : cells - 1;
  }
  return side == 0 ? guard - 1 : cells - guard;
}

void fill_side(Boundary boundary, int d, int side, const VariableSet& variables, const GuardedArray& array) {
  CellBox layer;
  for (int e = 0; e < 3; ++e) {
    layer.lo[e] = -array.guards[e];
    layer.hi[e] = array.cells[e] + array.guards[e];
  }
  for (int guard = 1; guard <= array.guards[d]; ++guard) {
    int target = side == 0 ? -guard : array.cells[d] - 1 + guard;
    int64_t shift = (donor(boundary, side, guard, array.cells[d]) - target) * array.stride[d];
    layer.lo[d] = target;
    layer.hi[d] = target + 1;
    for_each_cell(layer, [&](int i, int j, int k) {
      double* cell = array.origin + i * array.stride[0] + j * array.stride[1] + k * array.stride[2];
      for (int t = 0; t < variables.transferred_count(); ++t) {
        int v = array.variable_index[t];
        bool flip = boundary == Boundary::kReflect && variables.transferred[t].normal_to == d;
        cell[v] = flip ? -cell[v + shift] : cell[v + shift];
      }
    });
  }
}

}  // namespace

void fill_outside(const Domain& domain, const Leaf& leaf, const VariableSet& variables, const GuardedArray& array) {
  for (int d = 0; d < domain.dim; ++d) {
    if (domain.boundary[d] == Boundary::kPeriodic) {
      continue;
    }
    if (leaf.index[d] == 0) {
      fill_side(domain.boundary[d], d, 0, variables, array);
    }
    if (leaf.index[d] == blocks_across(domain, leaf.level, d) - 1) {
      fill_side(domain.boundary[d], d, 1, variables, array);
    }
  }
}

}  // namespace stria::flash
