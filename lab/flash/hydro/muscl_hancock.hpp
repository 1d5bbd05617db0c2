// One time step of the Euler equations on one block.
//
// Method: unsplit MUSCL-Hancock (van Leer; Toro, "Riemann Solvers", ch. 14 and 16): van
// Leer-limited slopes of the primitive variables, half a step in time within each cell with the
// slopes of all dimensions, HLLC fluxes between the faces' values (HLL next to cells within a
// strong shock), one conservative update. Second order in space and time; stable while the sum over
// the dimensions of (|u|+c) dt/dx stays below 1. A cell whose predicted face values would lose
// positivity falls back to first order.
// Memory: unk's interleaved cells are first spread into one array per variable, so that the inner
// loops vectorise.
#pragma once

#include <array>
#include <vector>

#include "hydro/euler.hpp"
#include "mesh/block_shape.hpp"

namespace stria::flash {

class MusclHancock {
 public:
  MusclHancock(const BlockShape& shape, double gamma);

  /// Advances the interior cells of a block by dt: density, velocity and total energy. Reads two
  /// guard cells around.
  /// \param block first double of the block in unk \param cell_size one per dimension \param
  /// face_fluxes where to store the fluxes through each face (FluxCorrection's shape); null for
  /// those not wanted
  void advance(double* block, const std::array<double, 3>& cell_size, double dt, const std::array<double*, 6>& face_fluxes);

  /// Returns the largest sum over the dimensions of (|u|+c)/dx over the block's interior cells: the
  /// inverse of the longest stable step.
  double signal_rate(const double* block, const std::array<double, 3>& cell_size) const;

 private:
  using Field = std::vector<double>;  // [k][j][i] of the block and its rim
  // Holds density, velocity x, y, z, pressure; or the fluxes' five components.
  using State = std::array<Field, 5>;

  void load(const double* block);
  void limit_slopes();
  void find_shocks();
  void predict(const std::array<double, 3>& cell_size, double dt);
  void compute_fluxes(int d);
  void accumulate(int d, double ratio);
  void save_face(int face, double* out) const;
  void update(double* block) const;

  // Calls body(first, count) for each row of cells of the interior widened by `rim` cells, and by
  // `extra` upwards in dimension d.
  template <typename Body>
  void for_each_row(int rim, int d, int extra, Body&& body) const;
  long place(int i, int j, int k) const {
    return (static_cast<long>(k + rim_[2]) * extent_[1] + j + rim_[1]) * extent_[0] + i + rim_[0];
  }

  BlockShape shape_;
  double gamma_;
  std::array<int, 3> rim_{};
  std::array<int, 3> extent_{};
  std::array<long, 3> step_{};
  State primitive_;
  State predicted_;
  std::array<State, 3> slope_;
  State flux_;
  State change_;
  Field shocked_;  // 1 in cells within a strong shock, 0 elsewhere
};

}  // namespace stria::flash
