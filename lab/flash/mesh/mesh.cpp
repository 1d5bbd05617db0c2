#include "mesh/mesh.hpp"

#include <string>
#include <utility>

#include "mesh/redistribute.hpp"
#include "mesh/remap.hpp"

namespace stria::flash {
namespace {

Status check(const MeshOptions& options) {
  if (options.nxb < 2 * kGuardCells || options.nxb > 64 || options.nxb % 2 != 0) {
    return {ErrorCode::kInvalidArgument,
            "blocks have an even number of cells from 8 to 64 per side, not " + std::to_string(options.nxb)};
  }
  if (options.min_level < 0 || options.max_level < options.min_level || options.max_level > kMaxLevel) {
    return {ErrorCode::kInvalidArgument, "refinement levels " + std::to_string(options.min_level + 1) + " to " +
                                             std::to_string(options.max_level + 1) + " are not a range within 1 to " +
                                             std::to_string(kMaxLevel + 1)};
  }
  return {};
}

bool any_rank(MPI_Comm comm, bool mine) {
  int local = mine ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&local, &any, 1, MPI_INT, MPI_MAX, comm);
  return any != 0;
}

}  // namespace

Mesh::Mesh(MPI_Comm comm, const MeshOptions& options, std::unique_ptr<Forest> forest)
    : comm_(comm),
      options_(options),
      shape_(BlockShape::make(options.domain.dim, options.nxb, options.variables.count())),
      forest_(std::move(forest)),
      exchange_(comm, shape_, options_.variables),
      guard_fill_(options_.domain, shape_, options_.variables),
      fluxes_(comm, shape_, options.flux_count) {
  MPI_Comm_rank(comm, &rank_);
}

Result<std::unique_ptr<Mesh>> Mesh::finish(MPI_Comm comm, const MeshOptions& options, std::unique_ptr<Forest> forest) {
  std::unique_ptr<Mesh> mesh(new Mesh(comm, options, std::move(forest)));
  STRIA_RETURN_IF_ERROR(mesh->rebuild_topology());
  mesh->unk_.assign(static_cast<std::size_t>(mesh->local_count_ * mesh->shape_.block_doubles()), 0.0);
  return mesh;
}

Result<std::unique_ptr<Mesh>> Mesh::create(MPI_Comm comm, const MeshOptions& options) {
  STRIA_RETURN_IF_ERROR(check(options));
  STRIA_ASSIGN_OR_RETURN(auto forest, Forest::uniform(comm, options.domain, options.min_level));
  return finish(comm, options, std::move(forest));
}

Result<std::unique_ptr<Mesh>> Mesh::from_leaves(MPI_Comm comm, const MeshOptions& options, std::span<const Leaf> leaves) {
  STRIA_RETURN_IF_ERROR(check(options));
  STRIA_ASSIGN_OR_RETURN(auto forest, Forest::from_leaves(comm, options.domain, leaves));
  return finish(comm, options, std::move(forest));
}

Status Mesh::rebuild_topology() {
  first_blocks_ = forest_->first_leaves();
  leaves_ = forest_->local_leaves();
  local_count_ = static_cast<int64_t>(leaves_.size());
  ghosts_ = forest_->ghost_layer();
  leaves_.insert(leaves_.end(), ghosts_.leaves.begin(), ghosts_.leaves.end());
  auto neighbors = NeighborTable::build(options_.domain, leaves_, static_cast<int32_t>(local_count_));
  if (any_rank(comm_, !neighbors.ok())) {
    return neighbors.ok() ? Status(ErrorCode::kFormat, "another rank found the mesh incomplete or unbalanced")
                          : neighbors.status();
  }
  neighbors_ = std::move(*neighbors);
  fluxes_.rebuild(leaves_, neighbors_, ghosts_, first_block());
  return {};
}

void Mesh::fill_guards() {
  exchange_.run(ghosts_, unk());
  guard_fill_.run(leaves_, neighbors_, exchange_, unk());
}

Result<bool> Mesh::adapt(std::vector<Mark> marks) {
  for (std::size_t b = 0; b < marks.size(); ++b) {
    int level = leaves_[b].level;
    bool beyond = (marks[b] == Mark::kRefine && level >= options_.max_level) ||
                  (marks[b] == Mark::kCoarsen && level <= options_.min_level);
    marks[b] = beyond ? Mark::kKeep : marks[b];
  }
  forest_->adapt(marks);
  std::vector<Leaf> adapted = forest_->local_leaves();
  std::vector<Leaf> before(leaves().begin(), leaves().end());
  if (!any_rank(comm_, adapted != before)) {
    return false;
  }
  std::vector<double> cells(adapted.size() * static_cast<std::size_t>(shape_.block_doubles()));
  Status remapped = remap(shape_, options_.variables, {before, unk()}, {adapted, cells.data()});
  if (any_rank(comm_, !remapped.ok())) {
    return remapped.ok() ? Status(ErrorCode::kAborted, "another rank failed to adapt its blocks") : remapped;
  }
  unk_ = std::move(cells);
  std::vector<int64_t> from = forest_->first_leaves();
  forest_->partition();
  STRIA_RETURN_IF_ERROR(rebuild_topology());
  if (from != first_blocks_) {
    std::vector<double> moved(static_cast<std::size_t>(local_count_ * shape_.block_doubles()));
    redistribute(comm_, shape_, from, first_blocks_, unk(), moved.data());
    unk_ = std::move(moved);
  }
  return true;
}

int32_t Mesh::global_number(int32_t source) const {
  int64_t number = source < local_count_ ? first_block() + source : ghosts_.global_index[source - local_count_];
  return static_cast<int32_t>(number + 1);
}

void Mesh::fill_gid(const std::array<Neighbor, kDirections>& neighbors, const Leaf& leaf, BlockTable* table) const {
  for (int face = 0; face < 2 * shape_.dim; ++face) {
    const Neighbor& neighbor = neighbors[direction_number(face_direction(face))];
    int32_t entry = kNoBlock;
    if (neighbor.kind == NeighborKind::kSame) {
      entry = global_number(neighbor.source);
    } else if (neighbor.kind == NeighborKind::kOutside) {
      entry = options_.domain.boundary[face / 2] == Boundary::kReflect ? kReflectingSide : kOutflowSide;
    }
    table->gid.push_back(entry);
  }
  table->gid.insert(table->gid.end(), static_cast<std::size_t>(1 + (1 << shape_.dim)), kNoBlock);
  table->which_child.push_back(leaf.level == 0 ? kNoBlock : leaf.child_number() + 1);
}

BlockTable Mesh::block_table() const {
  BlockTable table;
  table.dim = shape_.dim;
  table.local_count = local_count_;
  table.first_block = first_block();
  table.global_count = global_block_count();
  for (std::size_t rank = 0; rank + 1 < first_blocks_.size(); ++rank) {
    table.largest_count = std::max(table.largest_count, first_blocks_[rank + 1] - first_blocks_[rank]);
  }
  for (int64_t b = 0; b < local_count_; ++b) {
    const Leaf& leaf = leaves_[b];
    table.refine_level.push_back(leaf.level + 1);
    table.node_type.push_back(1);
    fill_gid(neighbors_.of[b], leaf, &table);
    table.processor_number.push_back(rank_);
    for (int d = 0; d < 3; ++d) {
      double lo = block_side(options_.domain, leaf, d, 0);
      double hi = block_side(options_.domain, leaf, d, 1);
      table.coordinates.push_back(0.5 * (lo + hi));
      table.block_size.push_back(block_length(options_.domain, leaf.level, d));
      table.bounding_box.push_back(lo);
      table.bounding_box.push_back(hi);
    }
  }
  return table;
}

}  // namespace stria::flash
