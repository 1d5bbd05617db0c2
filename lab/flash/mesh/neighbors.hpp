// Finds which blocks are neighbours: for every local block and each of the 26 directions (8 in
// 2-D), the blocks that its guard cells see.
//
// Method: a hash table of local and ghost leaves by level and place; a neighbour is looked up at
// the same level, then one level coarser, then one finer. A 2:1-balanced forest has no others.
// Cost: O(1) per direction.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "mesh/leaf.hpp"
#include "stria/status.hpp"

namespace stria::flash {

inline constexpr int kDirections = 27;

/// A step to one of the 26 neighbours (or 0 to stay): components -1, 0 or 1, numbered 0..26
/// with x fastest.
using Direction = std::array<int, 3>;
inline int direction_number(const Direction& o) {
  return (o[0] + 1) + 3 * (o[1] + 1) + 9 * (o[2] + 1);
}
inline Direction direction(int number) {
  return {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
}
/// Returns the step over face 2*d + side.
inline Direction face_direction(int face) {
  Direction o{0, 0, 0};
  o[face / 2] = face % 2 == 0 ? -1 : 1;
  return o;
}

enum class NeighborKind : int8_t { kNone, kSame, kCoarse, kFine, kOutside };

/// Says what is in one direction of a block. `source` is a local block's number, or the local block
/// count plus a ghost's number; for kFine it is the place in NeighborTable::fine_sources of the
/// first of the touching children (x fastest).
struct Neighbor {
  NeighborKind kind = NeighborKind::kNone;
  int32_t source = -1;
};

/// Returns how many of a finer neighbour's children touch a block in a direction, in each
/// dimension.
inline std::array<int, 3> touching_children(const Direction& o, int dim) {
  return {o[0] == 0 ? 2 : 1, o[1] == 0 ? 2 : 1, dim == 3 && o[2] == 0 ? 2 : 1};
}

/// The neighbours of all local blocks.
struct NeighborTable {
  std::vector<std::array<Neighbor, kDirections>> of;  ///< [local blocks][direction]
  std::vector<int32_t> fine_sources;

  /// Finds all neighbours. \param leaves local leaves, then ghosts. Errors: kFormat when a leaf is
  /// missing or not 2:1 balanced.
  static Result<NeighborTable> build(const Domain& domain, std::span<const Leaf> leaves, int32_t local_count);
};

}  // namespace stria::flash
