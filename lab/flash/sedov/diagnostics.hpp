// Numbers about the whole mesh, the same bits for every number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mesh/mesh.hpp"

namespace stria::flash {

/// Holds integrals over the domain (in 2-D: per unit of length, the domain's depth in z).
struct Totals {
  double mass = 0;
  double energy = 0;
};

/// Sums mass and total energy: block by block on their ranks, then all blocks in Morton order.
/// Collective: yes.
Totals compute_totals(const Mesh& mesh);

/// Returns a hash of the bits of all interior cells and of the leaves, in Morton order. Collective:
/// yes.
uint64_t state_hash(const Mesh& mesh);

/// Mean density in shells around the domain's centre, as wide as the finest level's cells.
/// Collective: yes.
struct RadialProfile {
  double shell_width = 0;
  std::vector<double> density;  ///< [shells]; -1 where no cell centre lies
};
RadialProfile density_profile(const Mesh& mesh);

/// Returns where the shock is: the radius at which the angle-averaged density falls most steeply; 0
/// where it falls nowhere. Collective: yes.
double numerical_shock_radius(const Mesh& mesh);

}  // namespace stria::flash
