// Copies of other ranks' blocks: the interiors of all ghost blocks, transferred variables only.
//
// Method: one message per pair of neighbouring ranks, packed block by block in Morton order.
// Cost: the interiors of the blocks on the partition's surface, once per filling of guard cells.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "mesh/block_shape.hpp"
#include "mesh/forest.hpp"
#include "mesh/transfer.hpp"
#include "mesh/variables.hpp"

namespace stria::flash {

/// An MPI datatype of `count` doubles that frees itself: one element is one block, so that no
/// message count overflows.
class DoublesType {
 public:
  explicit DoublesType(int64_t count) {
    MPI_Type_contiguous(static_cast<int>(count), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  ~DoublesType() { MPI_Type_free(&type_); }
  DoublesType(const DoublesType&) = delete;
  DoublesType& operator=(const DoublesType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class GhostExchange {
 public:
  GhostExchange(MPI_Comm comm, const BlockShape& shape, const VariableSet& variables);

  /// Fetches the ghosts' interiors from their owners. \param unk the local blocks. Collective: yes.
  void run(const GhostLayer& layer, const double* unk);

  /// Returns the cells of a ghost block, as last fetched.
  CellSource source(int32_t ghost) const;
  /// Returns the interior cells of a local block.
  CellSource local_source(const double* unk, int32_t block) const;

 private:
  void pack(const double* unk, int32_t block, double* out) const;

  MPI_Comm comm_;
  BlockShape shape_;
  int64_t compact_doubles_;  // the numbers of one ghost block
  DoublesType block_type_;
  std::vector<int> unk_index_;      // the index of each transferred variable
  std::vector<int> compact_index_;  // 0, 1, 2, …
  std::vector<double> ghosts_;      // [ghost][k][j][i][transferred]
  std::vector<double> outgoing_;
};

}  // namespace stria::flash
