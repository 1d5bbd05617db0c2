#include "physics/diffusion.hpp"

namespace stria::convection {

namespace {

constexpr double kTolerance = 1e-9;

}  // namespace

Diffusion::Diffusion(const Grid& grid, const Layer& layer)
    : grid_(grid),
      layer_(layer),
      dx_(layer.aspect / static_cast<double>(grid.nx)),
      dz_(1.0 / static_cast<double>(grid.nz)),
      temperature_(grid, 1),
      multigrid_(grid) {}

// Takes half of the conductivity between neighbours, as Crank and Nicolson weigh the new
// temperatures.
void Diffusion::find_couplings() {
  const auto conductivity = [&](int64_t j, int64_t i) { return layer_.conductivity_at(temperature_(j, i)); };
  Field& west = multigrid_.west();
  Field& up = multigrid_.up();
  for (int64_t j = 0; j <= grid_.mz; ++j) {
    for (int64_t i = 0; i <= grid_.mx; ++i) {
      if (j < grid_.mz) {
        west(j, i) = 0.25 * (conductivity(j, i - 1) + conductivity(j, i)) / (dx_ * dx_);
      }
      if (i < grid_.mx) {
        const bool top = j == 0 && grid_.at_top();
        const bool bottom = j == grid_.mz && grid_.at_bottom();
        // The top's temperature is half a cell away.
        up(j, i) = bottom ? 0
                   : top  ? layer_.conductivity_at(1) / (dz_ * dz_)
                          : 0.25 * (conductivity(j - 1, i) + conductivity(j, i)) / (dz_ * dz_);
      }
    }
  }
}

// Returns the heat for each unit of volume and time at the old temperatures.
double Diffusion::heat_into(int64_t j, int64_t i) {
  const Field& west = multigrid_.west();
  const Field& up = multigrid_.up();
  const double here = temperature_(j, i);
  const double above = j == 0 && grid_.at_top() ? 1 : temperature_(j - 1, i);
  const double below = j + 1 == grid_.mz && grid_.at_bottom() ? here : temperature_(j + 1, i);
  const double half = (west(j, i) * (temperature_(j, i - 1) - here) + west(j, i + 1) * (temperature_(j, i + 1) - here)) +
                      (up(j, i) * (above - here) + up(j + 1, i) * (below - here));
  return 2 * half + (j + 1 == grid_.mz && grid_.at_bottom() ? layer_.heating() / dz_ : 0);
}

int Diffusion::step(Gas& gas, double dt) {
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (int64_t i = 0; i < grid_.mx; ++i) {
      temperature_(j, i) = gas.pressure(layer_.gamma, j, i) / gas.density(j, i);
    }
  }
  exchange(grid_, {&temperature_});
  find_couplings();
  const double heat_capacity = 1 / (layer_.gamma - 1);
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (int64_t i = 0; i < grid_.mx; ++i) {
      multigrid_.diagonal()(j, i) = heat_capacity * gas.density(j, i) / dt;
      multigrid_.right_side()(j, i) = heat_into(j, i);
    }
  }
  const int cycles = multigrid_.solve(kTolerance);
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (int64_t i = 0; i < grid_.mx; ++i) {
      gas.energy(j, i) += heat_capacity * gas.density(j, i) * multigrid_.solution()(j, i);
    }
  }
  return cycles;
}

}  // namespace stria::convection
