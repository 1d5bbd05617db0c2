// A Sedov run from start or checkpoint to end: the loop around which the application
// writes its files.
//
// All results, the mesh included, are the same bits for every number of ranks and across restarts:
// blocks are advanced from their own cells and guard cells in a fixed order, the time step is a
// maximum, and siblings are always on the same rank.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "hydro/hydro.hpp"
#include "mesh/mesh.hpp"
#include "sedov/options.hpp"
#include "stria/status.hpp"

namespace stria::flash {

/// Holds what a checkpoint holds besides the blocks.
struct RunScalars {
  double time = 0;
  double dt = 0;      ///< the length of the last step, 0 before the first
  double dt_old = 0;  ///< the length of the one before
  int64_t step = 0;   ///< steps done
};

class SedovRun {
 public:
  /// Makes the initial mesh and state. Collective: yes. Errors: kInvalidArgument, the
  /// same on all ranks.
  static Result<std::unique_ptr<SedovRun>> start(MPI_Comm comm, const SedovOptions& options);

  /// Rebuilds the mesh of a checkpoint on any number of ranks. The caller then reads the cells of
  /// the blocks [first_block, first_block + block_count) of the file into unk(), all variables, and
  /// calls finish_restore(). \param refine_level this rank's part of the file's `refine level`; the
  /// ranks' parts, one after another, are the whole \param bounding_box the same blocks' bounding
  /// boxes, [blocks][3][2]
  /// Collective: yes. Errors (agreed): kFormat when the blocks aren't a complete mesh of the
  /// options' dimension and domain.
  static Result<std::unique_ptr<SedovRun>> restore(MPI_Comm comm, const SedovOptions& options, const RunScalars& scalars,
                                                   std::span<const int32_t> refine_level, std::span<const double> bounding_box);

  /// Fills guard cells after the blocks' interiors have been read. Collective: yes.
  void finish_restore();

  /// Tells whether the last step or the end time has been reached.
  bool finished() const;

  /// Advances by one time step, and adapts the mesh after every refine_every steps. Collective:
  /// yes. Errors: kInternal when the state has become unphysical.
  Status step();

  /// Fills guard cells from the current state: before corners are interpolated. Collective: yes.
  void fill_guards() { hydro_.fill_guards(mesh_.get()); }

  Mesh& mesh() { return *mesh_; }
  const Mesh& mesh() const { return *mesh_; }
  const RunScalars& scalars() const { return scalars_; }
  const SedovOptions& options() const { return options_; }

 private:
  SedovRun(const SedovOptions& options, std::unique_ptr<Mesh> mesh)
      : options_(options), mesh_(std::move(mesh)), hydro_(mesh_->shape(), options.problem.gamma) {}
  Status build_initial_mesh();
  Result<bool> adapt(bool initial);

  SedovOptions options_;
  RunScalars scalars_;
  std::unique_ptr<Mesh> mesh_;
  Hydro hydro_;
};

}  // namespace stria::flash
