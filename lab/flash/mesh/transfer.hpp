// Moving cell values between refinement levels.
//
// Problem: a block's neighbour, parent or child covers the same space with cells of twice or
// half the size.
// Method: everything happens on conserved densities (rho, rho*u, rho*E): restriction averages the
// 2^dim fine cells; prolongation splits a coarse cell with minmod-limited slopes, so that linear
// fields are reproduced, no new extremum of a single slope appears and the fine cells sum up to
// the coarse one.
// Cost: a few operations per value, no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/block_shape.hpp"
#include "mesh/variables.hpp"

namespace stria::flash {

/// Cells to read transferred values from: the interior of a local block within unk, or a ghost
/// block's compact copy.
struct CellSource {
  const double* origin = nullptr;       ///< cell (0,0,0)
  std::array<int64_t, 3> stride{};      ///< doubles from a cell to its neighbour, one per dimension
  const int* variable_index = nullptr;  ///< where in a cell each transferred variable is

  const double* cell(int i, int j, int k) const { return origin + i * stride[0] + j * stride[1] + k * stride[2]; }
};

/// Conserved densities on the cells that a block would have one level coarser, with a rim of
/// coarse cells around.
class CoarseBuffer {
 public:
  /// \param rim cells around the block's own cells/2 in every dimension that the mesh has
  CoarseBuffer(const BlockShape& shape, int transferred_count, int rim);

  /// Marks every value as unknown (NaN), so that a cell that was not filled spoils the result
  /// where it is used.
  void clear();
  double* cell(int i, int j, int k) { return values_.data() + offset(i, j, k); }
  const double* cell(int i, int j, int k) const { return values_.data() + offset(i, j, k); }
  int64_t stride(int d) const { return stride_[d]; }
  int rim(int d) const { return rim_[d]; }
  /// Counts the coarse cells across the block itself.
  int cells(int d) const { return cells_[d]; }

 private:
  int64_t offset(int i, int j, int k) const {
    return (i + rim_[0]) * stride_[0] + (j + rim_[1]) * stride_[1] + (k + rim_[2]) * stride_[2];
  }
  std::array<int, 3> cells_{};
  std::array<int, 3> rim_{};
  std::array<int64_t, 3> stride_{};
  std::vector<double> values_;
};

/// Reads a cell's transferred values as conserved densities into `conserved`.
void load_conserved(const VariableSet& variables, const double* cell, const int* variable_index, double* conserved);

/// Writes conserved densities as the transferred variables of `cell`, a cell of unk.
void store_conserved(const VariableSet& variables, const double* conserved, double* cell);

/// Averages the 2^dim cells of `source` whose lowest is (i,j,k) into `conserved`. The order of
/// the sum is fixed.
void restrict_cell(const VariableSet& variables, const CellSource& source, int dim, std::array<int, 3> lowest,
                   double* conserved);

/// The 2^dim parts of a coarse cell, child number by child number, as transferred values.
using ChildCells = std::array<std::array<double, kMaxTransferred>, 8>;

/// Splits coarse cell (i,j,k) of the buffer. Reads the cell and its face neighbours.
void prolong_cell(const VariableSet& variables, const CoarseBuffer& buffer, int dim, std::array<int, 3> at,
                  ChildCells* children);

}  // namespace stria::flash
