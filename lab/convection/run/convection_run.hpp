// A run: the gas, its time, and its steps.
#pragma once

#include <string>
#include <vector>

#include "physics/diffusion.hpp"
#include "physics/gas.hpp"

namespace stria::convection {

/// What is averaged over a row of cells.
inline const std::vector<std::string> kAverages{"density", "pressure",        "temperature",  "speed_x", "speed_z",
                                                "kinetic", "convective_heat", "conductivity", "entropy", "speed_z_squared"};

class ConvectionRun {
 public:
  /// Begins with the layer at rest, with a slight disturbance. Throws stria::Error, alike on all
  /// ranks, for sizes or physics that can't be. Collective: yes.
  ConvectionRun(const Grid& grid, const Layer& layer, double courant);
  ConvectionRun(const ConvectionRun&) = delete;
  ConvectionRun& operator=(const ConvectionRun&) = delete;

  /// Throws stria::Error (kInternal), on all ranks, when the scheme fails. Collective: yes.
  void step();

  const Grid& grid() const { return grid_; }
  const Layer& layer() const { return layer_; }
  double courant() const { return courant_; }
  Gas& gas() { return gas_; }
  const Gas& gas() const { return gas_; }
  double time() const { return time_; }
  double dt() const { return dt_; }
  int64_t steps() const { return steps_; }
  int cycles() const { return cycles_; }  ///< the cycles of the last step's multigrid
  /// Goes on from there; the gas is set apart.
  void continue_at(int64_t steps, double time) {
    steps_ = steps;
    time_ = time;
  }

  double temperature(int64_t j, int64_t i) const { return gas_.pressure(layer_.gamma, j, i) / gas_.density(j, i); }
  /// Returns a row's means of kAverages over the width, by row of this rank and average: on ranks
  /// of the first column, empty elsewhere. The same bit by bit on any number of ranks. Collective:
  /// yes.
  std::vector<double> averages() const;
  /// Returns the largest speed, in the local speed of sound. Collective: yes.
  double largest_mach() const;

 private:
  const Grid grid_;
  const Layer layer_;
  const double courant_;
  Gas gas_;
  GasDynamics dynamics_;
  Diffusion diffusion_;
  double time_ = 0;
  double dt_ = 0;
  int64_t steps_ = 0;
  int cycles_ = 0;
};

}  // namespace stria::convection
