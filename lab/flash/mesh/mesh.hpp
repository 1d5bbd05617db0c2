// The adaptive mesh: a forest of blocks, their cells, and everything that moves data between them.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "format/block_table.hpp"
#include "mesh/block_shape.hpp"
#include "mesh/flux_correction.hpp"
#include "mesh/forest.hpp"
#include "mesh/ghost_exchange.hpp"
#include "mesh/guard_fill.hpp"
#include "mesh/neighbors.hpp"
#include "mesh/variables.hpp"
#include "stria/status.hpp"

namespace stria::flash {

struct MeshOptions {
  Domain domain;
  int nxb = 8;        ///< cells across a block: even, 8 to 64
  int min_level = 0;  ///< 0-based
  int max_level = 0;
  VariableSet variables;
  int flux_count = 0;  ///< components that the physics corrects at refinement jumps
};

/// Blocks of one rank. The cells of all of them lie in one array, unk(nvar,i,j,k,block), guard
/// cells included.
class Mesh {
 public:
  /// Makes a mesh of blocks that all have min_level, cells zero. Collective: yes. Errors:
  /// kInvalidArgument, the same on all ranks.
  static Result<std::unique_ptr<Mesh>> create(MPI_Comm comm, const MeshOptions& options);

  /// Makes the mesh with exactly these leaves, cells zero. Collective: yes; every rank passes all
  /// leaves in Morton order.
  /// Errors (agreed): kFormat when they aren't a complete, 2:1-balanced mesh.
  static Result<std::unique_ptr<Mesh>> from_leaves(MPI_Comm comm, const MeshOptions& options, std::span<const Leaf> leaves);

  MPI_Comm comm() const { return comm_; }
  const Domain& domain() const { return options_.domain; }
  const BlockShape& shape() const { return shape_; }
  const MeshOptions& options() const { return options_; }

  int64_t block_count() const { return local_count_; }  ///< the blocks of this rank
  /// Returns the place, from 0, of this rank's first block.
  int64_t first_block() const { return first_blocks_[rank_]; }
  int64_t global_block_count() const { return first_blocks_.back(); }
  std::span<const int64_t> first_blocks() const { return first_blocks_; }  ///< [ranks + 1]
  std::span<const Leaf> leaves() const { return {leaves_.data(), static_cast<std::size_t>(local_count_)}; }

  double* unk() { return unk_.data(); }
  const double* unk() const { return unk_.data(); }
  double* block(int64_t b) { return unk_.data() + b * shape_.block_doubles(); }
  const double* block(int64_t b) const { return unk_.data() + b * shape_.block_doubles(); }

  /// Fills the transferred variables of all guard cells. Collective: yes.
  void fill_guards();

  /// Refines and coarsens as marked within the level limits, carries the cells over and balances
  /// the load. True means that the mesh has changed somewhere: the caller then renews derived
  /// variables and guard cells. The caller has filled the guard cells before. Collective: yes;
  /// \param marks one per local block.
  Result<bool> adapt(std::vector<Mark> marks);

  /// Renews the description of the local blocks. Collective: no.
  BlockTable block_table() const;

  FluxCorrection& fluxes() { return fluxes_; }

 private:
  Mesh(MPI_Comm comm, const MeshOptions& options, std::unique_ptr<Forest> forest);
  static Result<std::unique_ptr<Mesh>> finish(MPI_Comm comm, const MeshOptions& options, std::unique_ptr<Forest> forest);
  Status rebuild_topology();
  void fill_gid(const std::array<Neighbor, kDirections>& neighbors, const Leaf& leaf, BlockTable* table) const;
  int32_t global_number(int32_t source) const;

  MPI_Comm comm_;
  int rank_ = 0;
  MeshOptions options_;
  BlockShape shape_;
  std::unique_ptr<Forest> forest_;
  int64_t local_count_ = 0;
  std::vector<int64_t> first_blocks_;
  std::vector<Leaf> leaves_;  // local ones, then ghosts
  GhostLayer ghosts_;
  NeighborTable neighbors_;
  GhostExchange exchange_;
  GuardFill guard_fill_;
  FluxCorrection fluxes_;
  std::vector<double> unk_;
};

}  // namespace stria::flash
