// The forest of blocks: which leaves there are, which rank owns which, and how that changes.
//
// Problem: refine, coarsen, 2:1-balance and partition a quadtree or octree over many ranks.
// Method: p4est (Burstedde, Wilcox, Ghattas, SIAM J. Sci. Comput. 33, 2011) does all of it; this
// wraps its 2-D and 3-D flavours in one interface that is chosen at run time. No p4est type leaves
// the implementation.
// Cost: O(local leaves) each, plus p4est's messages.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mesh/leaf.hpp"
#include "stria/status.hpp"

namespace stria::flash {

/// Deepest level of a leaf (0-based) that this application uses.
inline constexpr int kMaxLevel = 17;

/// Says what a block wants: to be merged with its siblings, to stay, or to be split.
enum class Mark : int8_t { kCoarsen = -1, kKeep = 0, kRefine = 1 };

/// Leaves of other ranks that touch local ones over a face, an edge or a corner.
struct GhostLayer {
  /// Another rank: its leaves here are ghosts [first_ghost, first_ghost + ghost_count), and it
  /// wants `send_blocks`, local ones.
  struct Peer {
    int rank = 0;
    int32_t first_ghost = 0;
    int32_t ghost_count = 0;
    std::vector<int32_t> send_blocks;
  };
  std::vector<Leaf> leaves;
  std::vector<int> owner;             ///< rank of each ghost
  std::vector<int64_t> global_index;  ///< place of each ghost in the order of all leaves
  std::vector<Peer> peers;            ///< ascending by rank
};

/// A distributed forest. Leaves are in Morton order, root block by root block, and each rank owns
/// a run of them.
class Forest {
 public:
  virtual ~Forest() = default;

  /// Makes a forest whose leaves all have `level`. Collective: yes. Errors: kInvalidArgument for an
  /// impossible domain or level.
  static Result<std::unique_ptr<Forest>> uniform(MPI_Comm comm, const Domain& domain, int level);

  /// Makes the forest that has exactly the given leaves. Collective: yes; every rank passes the
  /// whole list, in order.
  /// Errors (agreed): kFormat when the list is not a complete set of leaves in Morton order.
  static Result<std::unique_ptr<Forest>> from_leaves(MPI_Comm comm, const Domain& domain, std::span<const Leaf> leaves);

  virtual std::vector<Leaf> local_leaves() const = 0;

  /// Index of the first leaf of each rank in the order of all leaves, and their number at the end.
  /// Shape: [ranks + 1].
  virtual std::vector<int64_t> first_leaves() const = 0;

  /// Collective: yes.
  virtual GhostLayer ghost_layer() const = 0;

  /// Splits and merges leaves as marked, one level at most, and restores the 2:1 balance over
  /// faces, edges and corners. Siblings are merged only if all are marked and the balance allows
  /// it. No leaf changes its rank. Collective: yes.
  virtual void adapt(std::span<const Mark> marks) = 0;

  /// Spreads the leaves evenly over the ranks, and keeps siblings together. Collective: yes.
  virtual void partition() = 0;
};

}  // namespace stria::flash
