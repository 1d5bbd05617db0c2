#include "physics/gas.hpp"

#include <algorithm>
#include <cmath>

#include "hydro/riemann.hpp"

namespace stria::convection {

namespace {

using flash::GasFlux;
using flash::GasState;

constexpr size_t kGhosts = 2;

/// Holds states of a line of cells, their velocities as seen along it.
struct Line {
  explicit Line(size_t cells)
      : density(cells + 2 * kGhosts),
        along(density.size()),
        across(density.size()),
        pressure(density.size()),
        low(density.size()),
        high(density.size()),
        flux(cells + 1) {}

  std::vector<double> density, along, across, pressure;
  std::vector<GasState> low, high;  ///< at a cell's faces after half a step
  std::vector<GasFlux> flux;        ///< through the lower faces of the inner cells
};

/// Returns the steepest slope that makes no new extremum (van Leer's limiter of central
/// differences).
double slope(double before, double here, double after) {
  const double left = here - before;
  const double right = after - here;
  if (left * right <= 0) {
    return 0;
  }
  const double least = std::min({2 * std::abs(left), 2 * std::abs(right), 0.5 * std::abs(left + right)});
  return left > 0 ? least : -least;
}

double deviation_slope(const std::vector<double>& values, const std::vector<double>& rest, size_t c) {
  return slope(values[c - 1] - rest[c - 1], values[c] - rest[c], values[c + 1] - rest[c + 1]);
}

bool is_gas(const GasState& state) {
  return state.density > 0 && state.pressure > 0;
}

// Finds both faces of a cell: deviations along the slope, then half a step in time.
void reconstruct(Line& line, const Rest& rest, double gamma, double dt, double width, size_t c) {
  const double density = line.density[c];
  const double along = line.along[c];
  const double pressure = line.pressure[c];
  const double density_off = density - rest.density[c];
  const double pressure_off = pressure - rest.pressure[c];
  const GasState flat_low{rest.face_density[c] + density_off, along, line.across[c], 0, rest.face_pressure[c] + pressure_off};
  const GasState flat_high{rest.face_density[c + 1] + density_off, along, line.across[c], 0,
                           rest.face_pressure[c + 1] + pressure_off};
  const double s_density = 0.5 * deviation_slope(line.density, rest.density, c);
  const double s_pressure = 0.5 * deviation_slope(line.pressure, rest.pressure, c);
  const double s_along = 0.5 * slope(line.along[c - 1], along, line.along[c + 1]);
  const double s_across = 0.5 * slope(line.across[c - 1], line.across[c], line.across[c + 1]);
  GasState low{flat_low.density - s_density, along - s_along, line.across[c] - s_across, 0, flat_low.pressure - s_pressure};
  GasState high{flat_high.density + s_density, along + s_along, line.across[c] + s_across, 0, flat_high.pressure + s_pressure};
  const double half = 0.5 * dt / width;
  const double stretch = high.normal - low.normal;
  const double push = high.pressure - low.pressure;
  const double by_density = -half * (along * (high.density - low.density) + density * stretch);
  const double by_along = -half * (along * stretch + push / density) + 0.5 * dt * rest.acceleration[c];
  const double by_across = -half * along * (high.transverse1 - low.transverse1);
  const double by_pressure = -half * (along * push + gamma * pressure * stretch);
  for (GasState* state : {&low, &high}) {
    state->density += by_density;
    state->normal += by_along;
    state->transverse1 += by_across;
    state->pressure += by_pressure;
  }
  const bool usable = is_gas(low) && is_gas(high);
  line.low[c] = usable ? low : flat_low;
  line.high[c] = usable ? high : flat_high;
  if (!is_gas(line.low[c]) || !is_gas(line.high[c])) {
    line.low[c] = line.high[c] = {density, along, line.across[c], 0, pressure};
  }
}

GasState mirrored(const GasState& state) {
  return {state.density, -state.normal, state.transverse1, state.transverse2, state.pressure};
}

// Nothing passes a wall; it only pushes.
GasFlux wall_flux(double gamma, const GasState& l, const GasState& r) {
  return {0, flash::hllc_flux(gamma, l, r).normal, 0, 0, 0};
}

struct Walls {
  bool low = false;
  bool high = false;
};

void find_fluxes(Line& line, const Rest& rest, double gamma, double dt, double width, Walls walls) {
  const size_t cells = line.flux.size() - 1;
  for (size_t c = 1; c < cells + 2 * kGhosts - 1; ++c) {
    reconstruct(line, rest, gamma, dt, width, c);
  }
  for (size_t f = 0; f <= cells; ++f) {
    line.flux[f] = flash::hllc_flux(gamma, line.high[f + kGhosts - 1], line.low[f + kGhosts]);
  }
  if (walls.low) {
    const GasState& inside = line.low[kGhosts];
    line.flux[0] = wall_flux(gamma, mirrored(inside), inside);
  }
  if (walls.high) {
    const GasState& inside = line.high[kGhosts + cells - 1];
    line.flux[cells] = wall_flux(gamma, inside, mirrored(inside));
  }
}

void load(const Gas& gas, double gamma, Line& line, size_t c, int64_t j, int64_t i, bool upright) {
  const double density = gas.density(j, i);
  const double x = gas.momentum_x(j, i) / density;
  const double z = gas.momentum_z(j, i) / density;
  line.density[c] = density;
  line.along[c] = upright ? z : x;
  line.across[c] = upright ? x : z;
  line.pressure[c] = gas.pressure(gamma, j, i);
}

// Fills cells behind a wall: the deviations of those before it, moving the other way.
void mirror(Line& line, const Rest& rest, size_t ghost, size_t inside) {
  line.density[ghost] = rest.density[ghost] + (line.density[inside] - rest.density[inside]);
  line.pressure[ghost] = rest.pressure[ghost] + (line.pressure[inside] - rest.pressure[inside]);
  line.along[ghost] = -line.along[inside];
  line.across[ghost] = line.across[inside];
}

Rest upright_rest(const Grid& grid, const Layer& layer, double dz) {
  Rest rest;
  const int64_t cells = grid.mz + 2 * static_cast<int64_t>(kGhosts);
  // The temperature would fall below zero behind the top on coarse grids.
  const auto depth = [&](double cell) {
    return std::max((static_cast<double>(grid.z0) + cell - static_cast<double>(kGhosts)) * dz, -0.5 / layer.contrast);
  };
  for (int64_t c = 0; c <= cells; ++c) {
    const double face = depth(static_cast<double>(c));
    rest.face_density.push_back(layer.density(face));
    rest.face_pressure.push_back(layer.pressure(face));
  }
  for (int64_t c = 0; c < cells; ++c) {
    const double middle = depth(static_cast<double>(c) + 0.5);
    const auto at = static_cast<size_t>(c);
    rest.density.push_back(layer.density(middle));
    rest.pressure.push_back(layer.pressure(middle));
    rest.acceleration.push_back((rest.face_pressure[at + 1] - rest.face_pressure[at]) / (dz * rest.density[at]));
  }
  return rest;
}

Rest level_rest(const Grid& grid) {
  const size_t cells = static_cast<size_t>(grid.mx) + 2 * kGhosts;
  const std::vector<double> none(cells, 0.0);
  return {none, none, std::vector<double>(cells + 1, 0.0), std::vector<double>(cells + 1, 0.0), none};
}

}  // namespace

GasDynamics::GasDynamics(const Grid& grid, const Layer& layer)
    : grid_(grid),
      layer_(layer),
      dx_(layer.aspect / static_cast<double>(grid.nx)),
      dz_(1.0 / static_cast<double>(grid.nz)),
      level_(level_rest(grid)),
      upright_(upright_rest(grid, layer, dz_)) {}

double GasDynamics::longest_step(const Gas& gas) const {
  double longest = 1;
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (int64_t i = 0; i < grid_.mx; ++i) {
      const double density = gas.density(j, i);
      const double pressure = gas.pressure(layer_.gamma, j, i);
      if (!(density > 0 && pressure > 0)) {
        longest = -1;
        continue;
      }
      const double sound = std::sqrt(layer_.gamma * pressure / density);
      longest = std::min({longest, dx_ / (std::abs(gas.momentum_x(j, i) / density) + sound),
                          dz_ / (std::abs(gas.momentum_z(j, i) / density) + sound)});
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MIN, grid_.comm);
  return longest;
}

void GasDynamics::step(Gas& gas, double dt, bool z_first) {
  if (z_first) {
    along_z(gas, dt);
    along_x(gas, dt);
  } else {
    along_x(gas, dt);
    along_z(gas, dt);
  }
}

void GasDynamics::along_x(Gas& gas, double dt) {
  exchange(grid_, {&gas.density, &gas.momentum_x, &gas.momentum_z, &gas.energy});
  Line line(static_cast<size_t>(grid_.mx));
  const double share = dt / dx_;
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (size_t c = 0; c < line.density.size(); ++c) {
      load(gas, layer_.gamma, line, c, j, static_cast<int64_t>(c) - 2, false);
    }
    find_fluxes(line, level_, layer_.gamma, dt, dx_, {});
    for (int64_t i = 0; i < grid_.mx; ++i) {
      const GasFlux& low = line.flux[static_cast<size_t>(i)];
      const GasFlux& high = line.flux[static_cast<size_t>(i) + 1];
      gas.density(j, i) -= share * (high.mass - low.mass);
      gas.momentum_x(j, i) -= share * (high.normal - low.normal);
      gas.momentum_z(j, i) -= share * (high.transverse1 - low.transverse1);
      gas.energy(j, i) -= share * (high.energy - low.energy);
    }
  }
}

void GasDynamics::along_z(Gas& gas, double dt) {
  exchange(grid_, {&gas.density, &gas.momentum_x, &gas.momentum_z, &gas.energy});
  const auto mz = static_cast<size_t>(grid_.mz);
  Line line(mz);
  const double share = dt / dz_;
  const size_t first = grid_.at_top() ? kGhosts : 0;
  const size_t end = mz + (grid_.at_bottom() ? kGhosts : 2 * kGhosts);
  for (int64_t i = 0; i < grid_.mx; ++i) {
    for (size_t c = first; c < end; ++c) {
      load(gas, layer_.gamma, line, c, static_cast<int64_t>(c) - 2, i, true);
    }
    for (size_t g = 0; g < kGhosts; ++g) {
      if (grid_.at_top()) {
        mirror(line, upright_, kGhosts - 1 - g, kGhosts + g);
      }
      if (grid_.at_bottom()) {
        mirror(line, upright_, mz + kGhosts + g, mz + kGhosts - 1 - g);
      }
    }
    find_fluxes(line, upright_, layer_.gamma, dt, dz_, {grid_.at_top(), grid_.at_bottom()});
    for (int64_t j = 0; j < grid_.mz; ++j) {
      const GasFlux& low = line.flux[static_cast<size_t>(j)];
      const GasFlux& high = line.flux[static_cast<size_t>(j) + 1];
      const double pull = upright_.acceleration[static_cast<size_t>(j) + kGhosts];
      const double before = gas.density(j, i);
      gas.density(j, i) -= share * (high.mass - low.mass);
      gas.momentum_z(j, i) += dt * (0.5 * (before + gas.density(j, i)) * pull - (high.normal - low.normal) / dz_);
      gas.momentum_x(j, i) -= share * (high.transverse1 - low.transverse1);
      gas.energy(j, i) += dt * 0.5 * (low.mass + high.mass) * pull - share * (high.energy - low.energy);
    }
  }
}

}  // namespace stria::convection
