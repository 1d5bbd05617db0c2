// The shape of one block in memory: unk(nvar,i,j,k), the variable running fastest, guard
// cells included.
#pragma once

#include <array>
#include <cstdint>

namespace stria::flash {

/// Layers on each side of a block, in every dimension that the mesh has.
inline constexpr int kGuardCells = 4;

/// A half-open box of cells.
struct CellBox {
  std::array<int, 3> lo{0, 0, 0};
  std::array<int, 3> hi{1, 1, 1};
};

/// Calls body(i, j, k) for every cell of the box, i fastest.
template <typename Body>
inline void for_each_cell(const CellBox& box, Body&& body) {
  for (int k = box.lo[2]; k < box.hi[2]; ++k) {
    for (int j = box.lo[1]; j < box.hi[1]; ++j) {
      for (int i = box.lo[0]; i < box.hi[0]; ++i) {
        body(i, j, k);
      }
    }
  }
}

/// Holds the extents of a block: interior cells, guard cells and variables. Cell (0,0,0) is the
/// first interior cell.
struct BlockShape {
  int dim = 2;
  int variable_count = 0;
  std::array<int, 3> cells{8, 8, 1};   ///< interior cells per dimension
  std::array<int, 3> guards{4, 4, 0};  ///< guard cells on each side

  /// Makes the shape for blocks of `nxb` cells per side in `dim` dimensions.
  static BlockShape make(int dim, int nxb, int variable_count) {
    BlockShape shape{dim, variable_count, {nxb, nxb, nxb}, {kGuardCells, kGuardCells, kGuardCells}};
    if (dim == 2) {
      shape.cells[2] = 1;
      shape.guards[2] = 0;
    }
    return shape;
  }

  int total(int d) const { return cells[d] + 2 * guards[d]; }
  int64_t interior_cells() const { return static_cast<int64_t>(cells[0]) * cells[1] * cells[2]; }
  int64_t total_cells() const { return static_cast<int64_t>(total(0)) * total(1) * total(2); }
  int64_t block_doubles() const { return total_cells() * variable_count; }

  /// Returns the distance in doubles from a cell to the next one in dimension d.
  int64_t stride(int d) const {
    int64_t doubles = variable_count;
    for (int e = 0; e < d; ++e) {
      doubles *= total(e);
    }
    return doubles;
  }
  /// Place in doubles of cell (i,j,k), guard cells at negative indices and beyond `cells`, from the
  /// start of its block.
  int64_t offset(int i, int j, int k) const {
    return (((static_cast<int64_t>(k) + guards[2]) * total(1) + j + guards[1]) * total(0) + i + guards[0]) * variable_count;
  }
  CellBox interior() const { return {{0, 0, 0}, cells}; }
};

}  // namespace stria::flash
