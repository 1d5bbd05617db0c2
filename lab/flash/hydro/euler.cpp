#include "hydro/euler.hpp"

namespace stria::flash {
namespace {

// Transferred values: density, velocity, total energy.
bool is_physical(const double* values) {
  double kinetic = 0.5 * (values[1] * values[1] + values[2] * values[2] + values[3] * values[3]);
  return values[0] > 0 && values[4] - kinetic > 0;
}

}  // namespace

VariableSet euler_variables() {
  VariableSet set;
  set.names = {"dens", "velx", "vely", "velz", "pres", "temp", "ener", "eint", "gamc", "game"};
  set.transferred = {{kDens, false, -1}, {kVelx, true, 0}, {kVely, true, 1}, {kVelz, true, 2}, {kEner, true, -1}};
  set.admissible = &is_physical;
  return set;
}

void apply_equation_of_state(double gamma, double* cells, long cell_count) {
  for (long c = 0; c < cell_count; ++c) {
    double* cell = cells + c * kEulerVariables;
    double speed_squared = cell[kVelx] * cell[kVelx] + cell[kVely] * cell[kVely] + cell[kVelz] * cell[kVelz];
    double internal = cell[kEner] - 0.5 * speed_squared;
    cell[kPres] = gas_pressure(gamma, cell[kDens], cell[kEner], speed_squared);
    cell[kEint] = internal;
    cell[kTemp] = (gamma - 1) * internal / kGasConstant;
    cell[kGamc] = gamma;
    cell[kGame] = gamma;
  }
}

}  // namespace stria::flash
