#include "sedov/sedov_run.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mesh/estimator.hpp"
#include "tools/shared/agree.hpp"

namespace stria::flash {
namespace {

MeshOptions mesh_options(const SedovOptions& options) {
  MeshOptions mesh;
  mesh.domain.dim = options.dim;
  for (int d = 0; d < options.dim; ++d) {
    mesh.domain.root_count[d] = options.root_blocks[d];
    mesh.domain.boundary[d] = options.boundary;
  }
  mesh.nxb = options.nxb;
  mesh.min_level = options.min_level - 1;
  mesh.max_level = options.max_level - 1;
  mesh.variables = euler_variables();
  mesh.flux_count = kFluxComponents;
  return mesh;
}

// Returns the leaf whose bounding box a file gives; fails when no block of the domain lies there.
Result<Leaf> leaf_from_box(const Domain& domain, int32_t refine_level, const double* box) {
  if (refine_level < 1 || refine_level > kMaxLevel + 1) {
    return Status(ErrorCode::kFormat, "a block's refinement level is " + std::to_string(refine_level));
  }
  Leaf leaf{refine_level - 1, {}};
  for (int d = 0; d < domain.dim; ++d) {
    double length = block_length(domain, leaf.level, d);
    double position = (box[2 * d] - domain.lo[d]) / length;
    double across = static_cast<double>(blocks_across(domain, leaf.level, d));
    if (!(position > -0.5 && position < across)) {
      return Status(ErrorCode::kFormat, "a block lies outside the domain");
    }
    leaf.index[d] = std::llround(position);
    bool fits = std::abs(position - std::round(position)) < 1e-6 && std::abs((box[2 * d + 1] - box[2 * d]) / length - 1) < 1e-6;
    if (!fits) {
      return Status(ErrorCode::kFormat, "a block's bounding box does not fit its refinement level");
    }
  }
  return leaf;
}

Result<std::vector<Leaf>> leaves_from_boxes(const Domain& domain, std::span<const int32_t> refine_level,
                                            std::span<const double> bounding_box) {
  if (bounding_box.size() != 6 * refine_level.size()) {
    return Status(ErrorCode::kFormat, "levels and bounding boxes of the blocks differ in number");
  }
  std::vector<Leaf> leaves;
  for (std::size_t b = 0; b < refine_level.size(); ++b) {
    STRIA_ASSIGN_OR_RETURN(Leaf leaf, leaf_from_box(domain, refine_level[b], bounding_box.data() + 6 * b));
    leaves.push_back(leaf);
  }
  return leaves;
}

// Puts all ranks' leaves one after another, on every rank: 32 bytes per block of the whole mesh.
std::vector<Leaf> gather_leaves(MPI_Comm comm, const std::vector<Leaf>& mine) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::vector<int> offsets;
  int total = 0;
  for (int c : counts) {
    offsets.push_back(total);
    total += c;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Leaf), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<Leaf> all(static_cast<std::size_t>(total));
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), offsets.data(), type, comm);
  MPI_Type_free(&type);
  return all;
}

}  // namespace

Result<std::unique_ptr<SedovRun>> SedovRun::start(MPI_Comm comm, const SedovOptions& options) {
  STRIA_RETURN_IF_ERROR(validate(options));
  STRIA_ASSIGN_OR_RETURN(auto mesh, Mesh::create(comm, mesh_options(options)));
  std::unique_ptr<SedovRun> run(new SedovRun(options, std::move(mesh)));
  STRIA_RETURN_IF_ERROR(run->build_initial_mesh());
  return run;
}

Result<std::unique_ptr<SedovRun>> SedovRun::restore(MPI_Comm comm, const SedovOptions& options, const RunScalars& scalars,
                                                    std::span<const int32_t> refine_level,
                                                    std::span<const double> bounding_box) {
  STRIA_RETURN_IF_ERROR(validate(options));
  MeshOptions mesh_of = mesh_options(options);
  auto mine = leaves_from_boxes(mesh_of.domain, refine_level, bounding_box);
  STRIA_RETURN_IF_ERROR(shared::agree(comm, mine.status()));
  STRIA_ASSIGN_OR_RETURN(auto mesh, Mesh::from_leaves(comm, mesh_of, gather_leaves(comm, *mine)));
  std::unique_ptr<SedovRun> run(new SedovRun(options, std::move(mesh)));
  run->scalars_ = scalars;
  return run;
}

void SedovRun::finish_restore() {
  fill_guards();
}

Status SedovRun::build_initial_mesh() {
  for (int level = options_.min_level; level <= options_.max_level; ++level) {
    set_initial_state(options_.problem, mesh_.get());
    STRIA_ASSIGN_OR_RETURN(bool changed, adapt(true));
    if (!changed) {
      break;
    }
  }
  set_initial_state(options_.problem, mesh_.get());
  fill_guards();
  return {};
}

// Blocks are only refined at the start; those with the explosion are, down to the finest level.
Result<bool> SedovRun::adapt(bool initial) {
  fill_guards();
  RefinementCriteria criteria{{kDens, kPres}, options_.refine_above, options_.derefine_below, options_.refine_filter};
  std::vector<Mark> marks;
  for (int64_t b = 0; b < mesh_->block_count(); ++b) {
    Mark mark = estimate_mark(mesh_->shape(), mesh_->block(b), criteria);
    if (initial) {
      bool hot = holds_explosion(options_.problem, *mesh_, mesh_->leaves()[b]);
      mark = hot || mark == Mark::kRefine ? Mark::kRefine : Mark::kKeep;
    }
    marks.push_back(mark);
  }
  STRIA_ASSIGN_OR_RETURN(bool changed, mesh_->adapt(std::move(marks)));
  if (changed) {
    hydro_.derive_interiors(mesh_.get());
  }
  return changed;
}

bool SedovRun::finished() const {
  return scalars_.step >= options_.max_steps || scalars_.time >= options_.end_time;
}

Status SedovRun::step() {
  mesh_->fill_guards();
  double dt = std::min(hydro_.stable_time_step(*mesh_, options_.cfl), options_.end_time - scalars_.time);
  if (!(dt > 0) || !std::isfinite(dt)) {
    return {ErrorCode::kInternal,
            "step " + std::to_string(scalars_.step + 1) + " has no stable time step: the state is unphysical"};
  }
  hydro_.advance(mesh_.get(), dt);
  scalars_.time += dt;
  scalars_.dt_old = scalars_.dt;
  scalars_.dt = dt;
  ++scalars_.step;
  if (scalars_.step % options_.refine_every == 0) {
    STRIA_ASSIGN_OR_RETURN([[maybe_unused]] bool changed, adapt(false));
  }
  return {};
}

}  // namespace stria::flash
