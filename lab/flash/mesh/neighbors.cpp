#include "mesh/neighbors.hpp"

#include <string>

namespace stria::flash {
namespace {

class Finder {
 public:
  Finder(const Domain& domain, std::span<const Leaf> leaves) : domain_(domain) {
    sources_.reserve(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      sources_.emplace(leaves[i], static_cast<int32_t>(i));
    }
  }

  /// Fills `neighbor` with what lies in direction `o` of `leaf`; false when nothing is found where
  /// something must be.
  bool find(const Leaf& leaf, const Direction& o, Neighbor* neighbor, std::vector<int32_t>* fine_sources) const {
    Leaf next = leaf;
    for (int d = 0; d < domain_.dim; ++d) {
      next.index[d] += o[d];
      int64_t across = blocks_across(domain_, leaf.level, d);
      if (next.index[d] >= 0 && next.index[d] < across) {
        continue;
      }
      if (domain_.boundary[d] != Boundary::kPeriodic) {
        *neighbor = {NeighborKind::kOutside, -1};
        return true;
      }
      next.index[d] = (next.index[d] + across) % across;
    }
    if (int32_t same = lookup(next); same >= 0) {
      *neighbor = {NeighborKind::kSame, same};
      return true;
    }
    if (int32_t coarse = leaf.level > 0 ? lookup(next.parent()) : -1; coarse >= 0) {
      *neighbor = {NeighborKind::kCoarse, coarse};
      return true;
    }
    *neighbor = {NeighborKind::kFine, static_cast<int32_t>(fine_sources->size())};
    return find_children(next, o, fine_sources);
  }

 private:
  int32_t lookup(const Leaf& leaf) const {
    auto found = sources_.find(leaf);
    return found == sources_.end() ? -1 : found->second;
  }

  // Finds the children of `node` that touch the block from which direction `o` leads here.
  bool find_children(const Leaf& node, const Direction& o, std::vector<int32_t>* fine_sources) const {
    std::array<int, 3> count = touching_children(o, domain_.dim);
    for (int c = 0; c < count[0] * count[1] * count[2]; ++c) {
      std::array<int, 3> step{c % count[0], c / count[0] % count[1], c / count[0] / count[1]};
      Leaf child{node.level + 1, node.index};
      for (int d = 0; d < domain_.dim; ++d) {
        child.index[d] = 2 * node.index[d] + (o[d] == -1 ? 1 : step[d]);
      }
      int32_t source = lookup(child);
      if (source < 0) {
        return false;
      }
      fine_sources->push_back(source);
    }
    return true;
  }

  const Domain& domain_;
  std::unordered_map<Leaf, int32_t, LeafHash> sources_;
};

}  // namespace

Result<NeighborTable> NeighborTable::build(const Domain& domain, std::span<const Leaf> leaves, int32_t local_count) {
  Finder finder(domain, leaves);
  NeighborTable table;
  table.of.resize(static_cast<std::size_t>(local_count));
  for (int32_t b = 0; b < local_count; ++b) {
    for (int n = 0; n < kDirections; ++n) {
      Direction o = direction(n);
      if (o == Direction{0, 0, 0} || (domain.dim == 2 && o[2] != 0)) {
        continue;
      }
      if (!finder.find(leaves[b], o, &table.of[b][n], &table.fine_sources)) {
        return Status(ErrorCode::kFormat, "block " + std::to_string(b) +
                                              " of this rank has a neighbour that is missing or "
                                              "differs by more than one refinement level");
      }
    }
  }
  return table;
}

}  // namespace stria::flash
