// The variables of the compressible Euler equations for a gamma-law gas, by FLASH's names, and its
// equation of state.
#pragma once

#include <algorithm>

#include "mesh/variables.hpp"

namespace stria::flash {

/// Names the places of the variables in unk. velz is there in 2-D as well.
enum EulerVariable : int { kDens, kVelx, kVely, kVelz, kPres, kTemp, kEner, kEint, kGamc, kGame, kEulerVariables };

/// Components of a flux: mass, momentum in x, y and z, total energy.
inline constexpr int kFluxComponents = 5;

/// Gas constant in erg/(mol K), which sets the unit of `temp` for a mean molecular mass of 1 g/mol.
inline constexpr double kGasConstant = 8.31446261815324e7;

/// Pressure never falls below this. So sound speeds stay real where rounding destroys the internal
/// energy of a cold, fast cell. Total energy doesn't change, so it is conserved.
inline constexpr double kSmallestPressure = 1e-14;

/// Returns the ten variables, with what the mesh must know about them.
VariableSet euler_variables();

/// Computes pressure from density, specific total energy and velocity squared.
inline double gas_pressure(double gamma, double density, double energy, double speed_squared) {
  return std::max((gamma - 1) * density * (energy - 0.5 * speed_squared), kSmallestPressure);
}

/// Derives pressure, temperature, internal energy and the gammas of `cell_count` cells from
/// density, velocity and total energy.
/// \param cells unk's values of the cells, one after another
void apply_equation_of_state(double gamma, double* cells, long cell_count);

}  // namespace stria::flash
