// Knows where blocks are: leaves of a forest of quadtrees (2-D) or octrees (3-D) over a brick of
// root blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stria::flash {

/// Says what lies beyond a side of the domain. A periodic dimension is periodic on both sides.
enum class Boundary { kOutflow, kReflect, kPeriodic };

/// The physical box that the mesh covers, and its division into root blocks. In 2-D the third
/// dimension is one flat layer.
struct Domain {
  int dim = 2;
  std::array<double, 3> lo{0, 0, 0};
  std::array<double, 3> hi{1, 1, 1};
  std::array<int, 3> root_count{1, 1, 1};
  std::array<Boundary, 3> boundary{Boundary::kOutflow, Boundary::kOutflow, Boundary::kOutflow};
};

/// One block of the forest: its refinement level (0 = root block) and its place, counted in blocks
/// of that level.
struct Leaf {
  int32_t level = 0;
  std::array<int64_t, 3> index{0, 0, 0};

  friend bool operator==(const Leaf&, const Leaf&) = default;
  Leaf parent() const { return {level - 1, {index[0] >> 1, index[1] >> 1, index[2] >> 1}}; }
  /// Says which of its parent's children this is: bit d tells the half in dimension d.
  int child_number() const { return static_cast<int>((index[0] & 1) | (index[1] & 1) << 1 | (index[2] & 1) << 2); }
};

/// Mixes level and place into a hash table's key.
struct LeafHash {
  std::size_t operator()(const Leaf& leaf) const {
    uint64_t h = static_cast<uint64_t>(leaf.level) * 0x9e3779b97f4a7c15ULL;
    for (int64_t v : leaf.index) {
      h ^= static_cast<uint64_t>(v) + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
      h *= 0xff51afd7ed558ccdULL;
      h ^= h >> 32;
    }
    return h;
  }
};

/// Returns how many blocks of `level` lie side by side in dimension d of the domain.
inline int64_t blocks_across(const Domain& domain, int level, int d) {
  return d < domain.dim ? static_cast<int64_t>(domain.root_count[d]) << level : 1;
}

/// Returns the length of a block of `level` in dimension d, in the domain's units.
inline double block_length(const Domain& domain, int level, int d) {
  return (domain.hi[d] - domain.lo[d]) / static_cast<double>(blocks_across(domain, level, d));
}

/// Returns the coordinate of the side of `leaf` in dimension d: the lower one for `side` 0, the
/// upper one for 1. Both neighbours of a side compute the same bits, because the position is first
/// formed from whole numbers.
inline double block_side(const Domain& domain, const Leaf& leaf, int d, int side) {
  double fraction = static_cast<double>(leaf.index[d] + side) / static_cast<double>(blocks_across(domain, leaf.level, d));
  return domain.lo[d] + (domain.hi[d] - domain.lo[d]) * fraction;
}

/// Coordinate of the centre of cell i of `leaf` in dimension d, when a block has n cells there.
inline double cell_center(const Domain& domain, const Leaf& leaf, int d, int i, int n) {
  double cells = static_cast<double>(blocks_across(domain, leaf.level, d) * n);
  double position = static_cast<double>(leaf.index[d] * n + i) + 0.5;
  return domain.lo[d] + (domain.hi[d] - domain.lo[d]) * (position / cells);
}

}  // namespace stria::flash
