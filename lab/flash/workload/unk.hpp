// FLASH's solution array as it lies in memory: unk(var, i, j, k, block) in Fortran's order, that is
// double unk[block][k][j][i][var] with guard cells, the variables of a cell side by side.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "workload/cell_value.hpp"
#include "workload/parameters.hpp"

namespace stria::flash {

/// The blocks of one rank. Owns its memory, which is aligned to a page; every page
/// has been touched.
class Unk {
 public:
  /// Allocates the blocks of one rank and fills every cell with its value. \errors
  /// kResourceExhausted
  static Result<Unk> create(const WorkloadParameters& parameters, const BlockPartition& partition);

  const WorkloadParameters& parameters() const { return parameters_; }
  const BlockPartition& partition() const { return partition_; }
  int64_t blocks() const { return partition_.local; }
  int64_t allocated_blocks() const { return allocated_blocks_; }

  /// Count the doubles from a cell to the next along each direction, and from a block to the next.
  int64_t stride_i() const { return parameters_.nvar; }
  int64_t stride_j() const { return parameters_.nvar * parameters_.padded_side(); }
  int64_t stride_k() const { return stride_j() * parameters_.padded_side(); }
  int64_t stride_block() const { return stride_k() * parameters_.padded_side(); }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  int64_t size_bytes() const { return allocated_blocks_ * stride_block() * static_cast<int64_t>(sizeof(double)); }

  /// Returns variable 0 of the first interior cell of a local block.
  const double* interior(int64_t block) const { return data_.get() + block * stride_block() + interior_offset(); }
  double* interior(int64_t block) { return data_.get() + block * stride_block() + interior_offset(); }

  /// Gives every cell, guard cells included, its value; unused blocks get NaN.
  void fill();
  /// Gives the interior cells values of a file instead, so that they compress as a simulation's do:
  /// blocks of nxb^3 doubles, first all blocks of a variable, then those of the next. They are
  /// taken again where there are too few. check_interior() then finds differences. \errors
  /// kInvalidArgument, kIo
  Status take_values(const std::string& path);
  /// Overwrites every cell with NaN, so that a cell that a reader leaves out is found.
  void poison();

  /// Compares every interior cell with its value; empty when all are right, else what the first
  /// wrong cell is and holds.
  std::string check_interior() const;
  /// Checks that every guard cell is still NaN after `poison`; empty when so.
  std::string check_guard_cells_untouched() const;

 private:
  struct Free {
    void operator()(double* pointer) const { std::free(pointer); }
  };
  int64_t interior_offset() const { return parameters_.guard_cells * (stride_i() + stride_j() + stride_k()); }
  void fill_block(int64_t block);

  WorkloadParameters parameters_;
  BlockPartition partition_;
  int64_t allocated_blocks_ = 0;
  std::unique_ptr<double, Free> data_;
};

}  // namespace stria::flash
