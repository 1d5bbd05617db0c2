// Diffusion of heat by Crank and Nicolson's scheme, with a conductivity that follows the
// temperature.
//
// The density stays as it is; the top keeps its temperature, through the bottom heat flows at the
// layer's rate.
#pragma once

#include "physics/gas.hpp"
#include "physics/multigrid.hpp"

namespace stria::convection {

class Diffusion {
 public:
  Diffusion(const Grid& grid, const Layer& layer);
  /// Makes a step of `dt`. Returns the cycles that the multigrid took. Collective: yes.
  int step(Gas& gas, double dt);

 private:
  void find_couplings();
  double heat_into(int64_t j, int64_t i);

  const Grid& grid_;
  const Layer& layer_;
  double dx_, dz_;
  Field temperature_;
  Multigrid multigrid_;
};

}  // namespace stria::convection
