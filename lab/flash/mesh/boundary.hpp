// Guard cells beyond the sides of the domain.
//
// Method: dimension by dimension, so that edges and corners outside the domain are made from guard
// cells that are already filled. It works on unk and on the coarse buffers of prolongation.
#pragma once

#include <array>
#include <cstdint>

#include "mesh/leaf.hpp"
#include "mesh/variables.hpp"

namespace stria::flash {

/// An array of cells with guard cells around, of which some values are to be filled.
struct GuardedArray {
  double* origin = nullptr;  ///< cell (0,0,0)
  std::array<int, 3> cells{};
  std::array<int, 3> guards{};
  std::array<int64_t, 3> stride{};      ///< in doubles
  const int* variable_index = nullptr;  ///< the index of each transferred variable within a cell
};

/// Fills the cells of `array` that lie outside the domain: outflow copies the outermost cell;
/// reflect mirrors, and turns the normal component around. All guard cells inside the domain must
/// have been filled.
void fill_outside(const Domain& domain, const Leaf& leaf, const VariableSet& variables, const GuardedArray& array);

}  // namespace stria::flash
