#include "mesh/guard_fill.hpp"

#include <algorithm>

#include "mesh/boundary.hpp"

namespace stria::flash {
namespace {

// Two coarse cells cover the guard cells; the slopes of the outer one need a third.
constexpr int kCoarseRim = kGuardCells / 2 + 1;

CellSource cells_of(int32_t source, int32_t local_count, const GhostExchange& exchange, const double* unk) {
  return source < local_count ? exchange.local_source(unk, source) : exchange.source(source - local_count);
}

}  // namespace

struct GuardFill::Block {
  double* origin;  // cell (0,0,0) of the block in unk
  int32_t number;
  int32_t local_count;
  std::span<const Leaf> leaves;
  const std::array<Neighbor, kDirections>* neighbors;
};

GuardFill::GuardFill(const Domain& domain, const BlockShape& shape, const VariableSet& variables)
    : domain_(domain), shape_(shape), variables_(variables), coarse_(shape, variables.transferred_count(), kCoarseRim) {
  for (int t = 0; t < variables.transferred_count(); ++t) {
    unk_index_.push_back(variables.transferred[t].index);
    compact_index_.push_back(t);
  }
}

// Returns the guard cells of a block that lie in direction o.
CellBox GuardFill::guard_box(const Direction& o) const {
  CellBox box;
  for (int d = 0; d < 3; ++d) {
    box.lo[d] = o[d] < 0 ? -shape_.guards[d] : o[d] == 0 ? 0 : shape_.cells[d];
    box.hi[d] = o[d] < 0 ? 0 : o[d] == 0 ? shape_.cells[d] : shape_.cells[d] + shape_.guards[d];
  }
  return box;
}

// Returns the same on the coarse buffer, `rim` coarse cells deep.
CellBox GuardFill::coarse_box(const Direction& o, int rim) const {
  CellBox box;
  for (int d = 0; d < shape_.dim; ++d) {
    int cells = coarse_.cells(d);
    box.lo[d] = o[d] < 0 ? -rim : o[d] == 0 ? 0 : cells;
    box.hi[d] = o[d] < 0 ? 0 : o[d] == 0 ? cells : cells + rim;
  }
  return box;
}

void GuardFill::copy_same(const Block& block, const Direction& o, const CellSource& source) const {
  std::array<int, 3> shift{};
  for (int d = 0; d < shape_.dim; ++d) {
    shift[d] = o[d] * shape_.cells[d];
  }
  for_each_cell(guard_box(o), [&](int i, int j, int k) {
    const double* from = source.cell(i - shift[0], j - shift[1], k - shift[2]);
    double* to = block.origin + i * shape_.stride(0) + j * shape_.stride(1) + k * shape_.stride(2);
    for (std::size_t t = 0; t < unk_index_.size(); ++t) {
      to[unk_index_[t]] = from[source.variable_index[t]];
    }
  });
}

void GuardFill::restrict_fine(const Block& block, const Direction& o, std::span<const int32_t> children,
                              const GhostExchange& exchange, const double* unk) const {
  std::array<int, 3> count = touching_children(o, shape_.dim);
  CellBox guards = guard_box(o);
  for (int c = 0; c < count[0] * count[1] * count[2]; ++c) {
    std::array<int, 3> step{c % count[0], c / count[0] % count[1], c / count[0] / count[1]};
    CellBox part = guards;
    std::array<int, 3> first{};  // the child's lowest cell, in cells of this block
    for (int d = 0; d < shape_.dim; ++d) {
      int half = shape_.cells[d] / 2;
      first[d] = o[d] * shape_.cells[d] + (o[d] < 0 ? half : step[d] * half);
      part.lo[d] = std::max(part.lo[d], first[d]);
      part.hi[d] = std::min(part.hi[d], first[d] + half);
    }
    CellSource source = cells_of(children[c], block.local_count, exchange, unk);
    for_each_cell(part, [&](int i, int j, int k) {
      double conserved[kMaxTransferred];
      restrict_cell(variables_, source, shape_.dim, {2 * (i - first[0]), 2 * (j - first[1]), 2 * (k - first[2])}, conserved);
      store_conserved(variables_, conserved, block.origin + i * shape_.stride(0) + j * shape_.stride(1) + k * shape_.stride(2));
    });
  }
}

void GuardFill::gather_coarse(const Block& block, const GhostExchange& exchange, const double* unk) {
  coarse_.clear();
  const Leaf& leaf = block.leaves[block.number];
  for (int n = 0; n < kDirections; ++n) {
    Direction o = direction(n);
    bool self = o == Direction{0, 0, 0};
    const Neighbor& neighbor = (*block.neighbors)[n];
    NeighborKind kind = self ? NeighborKind::kSame : neighbor.kind;
    if (kind != NeighborKind::kSame && kind != NeighborKind::kCoarse) {
      continue;  // outside, or finer: never next to a coarse neighbour's cells
    }
    CellSource source = cells_of(self ? block.number : neighbor.source, block.local_count, exchange, unk);
    // This is the source's lowest cell, in coarse cells from this block's lowest corner.
    std::array<int, 3> first{};
    for (int d = 0; d < shape_.dim; ++d) {
      // The coarse neighbour covers the place one step away; it starts half a block before that if
      // that is an upper half.
      int64_t place = leaf.index[d] + o[d];
      int64_t start = kind == NeighborKind::kSame ? place : place & ~int64_t{1};
      first[d] = static_cast<int>(start - leaf.index[d]) * coarse_.cells(d);
    }
    for_each_cell(coarse_box(o, kCoarseRim), [&](int i, int j, int k) {
      std::array<int, 3> at{i - first[0], j - first[1], k - first[2]};
      double* to = coarse_.cell(i, j, k);
      if (kind == NeighborKind::kSame) {
        restrict_cell(variables_, source, shape_.dim, {2 * at[0], 2 * at[1], 2 * at[2]}, to);
      } else {
        load_conserved(variables_, source.cell(at[0], at[1], at[2]), source.variable_index, to);
      }
    });
  }
  GuardedArray array{coarse_.cell(0, 0, 0),
                     {coarse_.cells(0), coarse_.cells(1), coarse_.cells(2)},
                     {coarse_.rim(0), coarse_.rim(1), coarse_.rim(2)},
                     {coarse_.stride(0), coarse_.stride(1), coarse_.stride(2)},
                     compact_index_.data()};
  fill_outside(domain_, leaf, variables_, array);
}

void GuardFill::prolong(const Block& block, const Direction& o) const {
  for_each_cell(coarse_box(o, kGuardCells / 2), [&](int i, int j, int k) {
    ChildCells children;
    prolong_cell(variables_, coarse_, shape_.dim, {i, j, k}, &children);
    for (int child = 0; child < (1 << shape_.dim); ++child) {
      int fine_k = shape_.dim == 3 ? 2 * k + (child >> 2 & 1) : 0;
      double* to = block.origin + (2 * i + (child & 1)) * shape_.stride(0) + (2 * j + (child >> 1 & 1)) * shape_.stride(1) +
                   fine_k * shape_.stride(2);
      for (std::size_t t = 0; t < unk_index_.size(); ++t) {
        to[unk_index_[t]] = children[child][t];
      }
    }
  });
}

void GuardFill::run(std::span<const Leaf> leaves, const NeighborTable& neighbors, const GhostExchange& exchange, double* unk) {
  auto local_count = static_cast<int32_t>(neighbors.of.size());
  for (int32_t b = 0; b < local_count; ++b) {
    double* origin = unk + b * shape_.block_doubles() + shape_.offset(0, 0, 0);
    Block block{origin, b, local_count, leaves, &neighbors.of[b]};
    auto is_coarse = [](const Neighbor& n) { return n.kind == NeighborKind::kCoarse; };
    if (std::any_of(neighbors.of[b].begin(), neighbors.of[b].end(), is_coarse)) {
      gather_coarse(block, exchange, unk);
    }
    for (int n = 0; n < kDirections; ++n) {
      const Neighbor& neighbor = neighbors.of[b][n];
      if (neighbor.kind == NeighborKind::kSame) {
        copy_same(block, direction(n), cells_of(neighbor.source, local_count, exchange, unk));
      } else if (neighbor.kind == NeighborKind::kFine) {
        Direction o = direction(n);
        std::array<int, 3> touching = touching_children(o, shape_.dim);
        auto child_count = static_cast<std::size_t>(touching[0] * touching[1] * touching[2]);
        restrict_fine(block, o, {neighbors.fine_sources.data() + neighbor.source, child_count}, exchange, unk);
      } else if (neighbor.kind == NeighborKind::kCoarse) {
        prolong(block, direction(n));
      }
    }
    GuardedArray array{
        origin, shape_.cells, shape_.guards, {shape_.stride(0), shape_.stride(1), shape_.stride(2)}, unk_index_.data()};
    fill_outside(domain_, leaves[b], variables_, array);
  }
}

}  // namespace stria::flash
