#include "mesh/forest.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "mesh/p4est_traits.hpp"

namespace stria::flash {
namespace {

using InteriorNodes = std::unordered_set<Leaf, LeafHash>;

// p4est prints its progress on standard output by default, but a library must not print.
void silence_p4est() {
  static const bool done = [] {
    sc_init(MPI_COMM_NULL, 0, 0, nullptr, SC_LP_ERROR);
    p4est_init(nullptr, SC_LP_ERROR);
    return true;
  }();
  static_cast<void>(done);
}

// Walks a list of leaves and notes every node above them; fails where the list isn't the complete
// forest in Morton order.
class LeafListWalk {
 public:
  LeafListWalk(std::span<const Leaf> leaves, int dim) : leaves_(leaves), dim_(dim) {}

  bool walk(const Leaf& node) {
    if (next_ < leaves_.size() && leaves_[next_] == node) {
      ++next_;
      return true;
    }
    if (next_ >= leaves_.size() || !is_above(node, leaves_[next_])) {
      return false;
    }
    interior_.insert(node);
    for (int child = 0; child < (1 << dim_); ++child) {
      Leaf below{node.level + 1, {}};
      for (int d = 0; d < dim_; ++d) {
        below.index[d] = 2 * node.index[d] + (child >> d & 1);
      }
      if (!walk(below)) {
        return false;
      }
    }
    return true;
  }
  bool at_end() const { return next_ == leaves_.size(); }
  InteriorNodes take_interior() { return std::move(interior_); }

 private:
  static bool is_above(const Leaf& node, const Leaf& leaf) {
    int depth = leaf.level - node.level;
    if (depth <= 0 || leaf.level > kMaxLevel) {
      return false;
    }
    for (int d = 0; d < 3; ++d) {
      if (leaf.index[d] >> depth != node.index[d]) {
        return false;
      }
    }
    return true;
  }

  std::span<const Leaf> leaves_;
  int dim_;
  std::size_t next_ = 0;
  InteriorNodes interior_;
};

template <int Dim>
class P4Forest final : public Forest {
  using T = P4est<Dim>;

 public:
  P4Forest(MPI_Comm comm, const Domain& domain, int level) : connectivity_(T::new_brick(domain)) {
    forest_ = T::create(comm, connectivity_, 0, level, 1, 0, nullptr, this);
    find_roots();
    partition();
  }
  ~P4Forest() override {
    T::destroy(forest_);
    T::destroy_connectivity(connectivity_);
  }
  P4Forest(const P4Forest&) = delete;
  P4Forest& operator=(const P4Forest&) = delete;

  std::vector<Leaf> local_leaves() const override {
    std::vector<Leaf> leaves;
    leaves.reserve(static_cast<std::size_t>(forest_->local_num_quadrants));
    for_each_quadrant([&](int tree, typename T::Quadrant& q) { leaves.push_back(leaf_of(tree, q)); });
    return leaves;
  }

  std::vector<int64_t> first_leaves() const override {
    return {forest_->global_first_quadrant, forest_->global_first_quadrant + forest_->mpisize + 1};
  }

  GhostLayer ghost_layer() const override;

  void adapt(std::span<const Mark> marks) override {
    std::size_t next = 0;
    for_each_quadrant([&](int, typename T::Quadrant& q) { q.p.user_int = static_cast<int>(marks[next++]); });
    T::refine(forest_, 0, &wants_refinement, &keep);
    T::coarsen(forest_, 0, &all_want_coarsening, &keep);
    T::balance(forest_, T::kFull, &keep);
  }

  void partition() override { T::partition(forest_, 1, nullptr); }

  /// Refines a forest of root blocks until its leaves are those of the list, if that is
  /// complete and in order.
  bool refine_to(std::span<const Leaf> leaves) {
    LeafListWalk walk(leaves, Dim);
    for (const auto& root : roots_) {
      if (!walk.walk({0, root})) {
        return false;
      }
    }
    if (!walk.at_end()) {
      return false;
    }
    interior_ = walk.take_interior();
    T::refine(forest_, 1, &is_interior, nullptr);
    interior_.clear();
    partition();
    return true;
  }

 private:
  template <typename Body>
  void for_each_quadrant(Body&& body) const {
    for (int tree = forest_->first_local_tree; tree <= forest_->last_local_tree; ++tree) {
      auto* quadrants = &reinterpret_cast<typename T::Tree*>(forest_->trees->array)[tree].quadrants;
      for (std::size_t i = 0; i < quadrants->elem_count; ++i) {
        body(tree, reinterpret_cast<typename T::Quadrant*>(quadrants->array)[i]);
      }
    }
  }

  Leaf leaf_of(int tree, const typename T::Quadrant& q) const {
    Leaf leaf{q.level, {}};
    std::array<int64_t, 3> place = T::place(q);
    for (int d = 0; d < Dim; ++d) {
      leaf.index[d] = (roots_[tree][d] << q.level) + (place[d] >> (T::kRootBits - q.level));
    }
    return leaf;
  }

  // A brick's vertices lie at whole numbers, so the lowest corner of a tree is the place of
  // its root block.
  void find_roots() {
    for (int tree = 0; tree < connectivity_->num_trees; ++tree) {
      const double* corner = connectivity_->vertices + 3 * connectivity_->tree_to_vertex[T::kCorners * tree];
      std::array<int64_t, 3> root{};
      for (int d = 0; d < Dim; ++d) {
        root[d] = static_cast<int64_t>(corner[d] + 0.5);
      }
      roots_.push_back(root);
    }
  }

  static int wants_refinement(typename T::Forest*, p4est_topidx_t, typename T::Quadrant* q) {
    return q->p.user_int == static_cast<int>(Mark::kRefine) ? 1 : 0;
  }
  static int all_want_coarsening(typename T::Forest*, p4est_topidx_t, typename T::Quadrant* family[]) {
    return std::all_of(family, family + (1 << Dim),
                       [](const auto* q) { return q->p.user_int == static_cast<int>(Mark::kCoarsen); })
               ? 1
               : 0;
  }
  static void keep(typename T::Forest*, p4est_topidx_t, typename T::Quadrant* q) {
    q->p.user_int = static_cast<int>(Mark::kKeep);
  }
  static int is_interior(typename T::Forest* forest, p4est_topidx_t tree, typename T::Quadrant* q) {
    auto* self = static_cast<P4Forest*>(forest->user_pointer);
    return self->interior_.count(self->leaf_of(tree, *q)) > 0 ? 1 : 0;
  }

  typename T::Connectivity* connectivity_;
  typename T::Forest* forest_ = nullptr;
  std::vector<std::array<int64_t, 3>> roots_;  // [trees]
  InteriorNodes interior_;                     // while refine_to runs
};

template <int Dim>
GhostLayer P4Forest<Dim>::ghost_layer() const {
  auto* ghost = T::new_ghost(forest_, T::kFull);
  auto quadrant = [](const sc_array_t& array, std::size_t i) -> const typename T::Quadrant& {
    return reinterpret_cast<const typename T::Quadrant*>(array.array)[i];
  };
  GhostLayer layer;
  for (int rank = 0; rank < forest_->mpisize; ++rank) {
    GhostLayer::Peer peer{rank, ghost->proc_offsets[rank], ghost->proc_offsets[rank + 1] - ghost->proc_offsets[rank], {}};
    for (int32_t g = peer.first_ghost; g < peer.first_ghost + peer.ghost_count; ++g) {
      const auto& q = quadrant(ghost->ghosts, static_cast<std::size_t>(g));
      layer.leaves.push_back(leaf_of(q.p.piggy3.which_tree, q));
      layer.owner.push_back(rank);
      layer.global_index.push_back(forest_->global_first_quadrant[rank] + q.p.piggy3.local_num);
    }
    for (auto m = ghost->mirror_proc_offsets[rank]; m < ghost->mirror_proc_offsets[rank + 1]; ++m) {
      const auto& q = quadrant(ghost->mirrors, static_cast<std::size_t>(ghost->mirror_proc_mirrors[m]));
      peer.send_blocks.push_back(q.p.piggy3.local_num);
    }
    if (peer.ghost_count > 0 || !peer.send_blocks.empty()) {
      layer.peers.push_back(std::move(peer));
    }
  }
  T::destroy_ghost(ghost);
  return layer;
}

Status check(const Domain& domain, int level) {
  if (domain.dim != 2 && domain.dim != 3) {
    return {ErrorCode::kInvalidArgument, "a mesh has 2 or 3 dimensions, not " + std::to_string(domain.dim)};
  }
  if (level < 0 || level > kMaxLevel) {
    return {ErrorCode::kInvalidArgument,
            "refinement level " + std::to_string(level + 1) + " is not in [1, " + std::to_string(kMaxLevel + 1) + "]"};
  }
  int64_t roots = 1;
  for (int d = 0; d < domain.dim; ++d) {
    if (domain.root_count[d] < 1 || domain.root_count[d] > 1024 || !(domain.lo[d] < domain.hi[d])) {
      return {ErrorCode::kInvalidArgument, "dimension " + std::to_string(d) + " needs 1 to 1024 root blocks and lo < hi"};
    }
    roots *= domain.root_count[d];
  }
  if (roots > 1 << 20) {
    return {ErrorCode::kInvalidArgument, std::to_string(roots) + " root blocks are more than 1048576"};
  }
  return {};
}

template <int Dim>
Result<std::unique_ptr<Forest>> make_from_leaves(MPI_Comm comm, const Domain& domain, std::span<const Leaf> leaves) {
  auto forest = std::make_unique<P4Forest<Dim>>(comm, domain, 0);
  if (!forest->refine_to(leaves)) {
    return Status(ErrorCode::kFormat,
                  "the list of " + std::to_string(leaves.size()) + " blocks is not a complete mesh in Morton order");
  }
  return std::unique_ptr<Forest>(std::move(forest));
}

}  // namespace

Result<std::unique_ptr<Forest>> Forest::uniform(MPI_Comm comm, const Domain& domain, int level) {
  STRIA_RETURN_IF_ERROR(check(domain, level));
  silence_p4est();
  if (domain.dim == 2) {
    return std::unique_ptr<Forest>(std::make_unique<P4Forest<2>>(comm, domain, level));
  }
  return std::unique_ptr<Forest>(std::make_unique<P4Forest<3>>(comm, domain, level));
}

Result<std::unique_ptr<Forest>> Forest::from_leaves(MPI_Comm comm, const Domain& domain, std::span<const Leaf> leaves) {
  STRIA_RETURN_IF_ERROR(check(domain, 0));
  silence_p4est();
  return domain.dim == 2 ? make_from_leaves<2>(comm, domain, leaves) : make_from_leaves<3>(comm, domain, leaves);
}

}  // namespace stria::flash
