// The Sedov blast as an initial condition: energy in a small ball (2-D: disk) at the centre of a
// cold gas at rest.
#pragma once

#include "mesh/mesh.hpp"

namespace stria::flash {

struct SedovProblem {
  double gamma = 1.4;
  double energy = 1;  ///< the energy of the explosion; in 2-D per unit of length in z
  double ambient_density = 1;
  double ambient_pressure = 1e-5;
  double radius_cells = 3.5;  ///< the ball that holds the energy, in cells of the finest level
};

/// Fills the interiors of all local blocks: density, velocity, total energy. The energy's ball is
/// sampled within each cell and scaled so that the cells of the finest level hold exactly `energy`
/// more than the ambient gas would.
void set_initial_state(const SedovProblem& problem, Mesh* mesh);

/// Tells whether a block must be at the finest level at the start: it touches the ball.
bool holds_explosion(const SedovProblem& problem, const Mesh& mesh, const Leaf& leaf);

}  // namespace stria::flash
