#include "hydro/muscl_hancock.hpp"

#include <cmath>

#include "hydro/riemann.hpp"
#include "mesh/flux_correction.hpp"

namespace stria::flash {
namespace {

constexpr int kRim = 2;
// A jump of the pressure over two cells, relative to the lower one.
constexpr double kStrongJump = 1.0 / 3;

double van_leer(double a, double b) {
  double product = a * b;
  return product > 0 ? 2 * product / (a + b) : 0.0;
}

}  // namespace

MusclHancock::MusclHancock(const BlockShape& shape, double gamma) : shape_(shape), gamma_(gamma) {
  long cells = 1;
  for (int d = 0; d < 3; ++d) {
    rim_[d] = d < shape.dim ? kRim : 0;
    extent_[d] = shape.cells[d] + 2 * rim_[d];
    step_[d] = cells;
    cells *= extent_[d];
  }
  auto resize = [cells](State& state) {
    for (Field& field : state) {
      field.assign(static_cast<std::size_t>(cells), 0.0);
    }
  };
  for (State* state : {&primitive_, &predicted_, &slope_[0], &slope_[1], &slope_[2], &flux_, &change_}) {
    resize(*state);
  }
  shocked_.assign(static_cast<std::size_t>(cells), 0.0);
}

template <typename Body>
void MusclHancock::for_each_row(int rim, int d, int extra, Body&& body) const {
  std::array<int, 3> lo{};
  std::array<int, 3> hi{};
  for (int e = 0; e < 3; ++e) {
    lo[e] = e < shape_.dim ? -rim : 0;
    hi[e] = e < shape_.dim ? shape_.cells[e] + rim + (e == d ? extra : 0) : 1;
  }
  for (int k = lo[2]; k < hi[2]; ++k) {
    for (int j = lo[1]; j < hi[1]; ++j) {
      body(place(lo[0], j, k), static_cast<long>(hi[0] - lo[0]));
    }
  }
}

void MusclHancock::load(const double* block) {
  for (int k = -rim_[2]; k < shape_.cells[2] + rim_[2]; ++k) {
    for (int j = -rim_[1]; j < shape_.cells[1] + rim_[1]; ++j) {
      const double* cell = block + shape_.offset(-rim_[0], j, k);
      long at = place(-rim_[0], j, k);
      for (int i = 0; i < extent_[0]; ++i, ++at, cell += kEulerVariables) {
        double squared = cell[kVelx] * cell[kVelx] + cell[kVely] * cell[kVely] + cell[kVelz] * cell[kVelz];
        primitive_[0][at] = cell[kDens];
        primitive_[1][at] = cell[kVelx];
        primitive_[2][at] = cell[kVely];
        primitive_[3][at] = cell[kVelz];
        primitive_[4][at] = gas_pressure(gamma_, cell[kDens], cell[kEner], squared);
      }
    }
  }
}

void MusclHancock::limit_slopes() {
  for (int d = 0; d < shape_.dim; ++d) {
    for (int v = 0; v < 5; ++v) {
      for_each_row(1, 0, 0, [&, d, v](long first, long count) {
        const double* center = primitive_[v].data() + first;
        const double* below = center - step_[d];
        const double* above = center + step_[d];
        double* __restrict__ slope = slope_[d][v].data() + first;
        for (long i = 0; i < count; ++i) {
          slope[i] = van_leer(center[i] - below[i], above[i] - center[i]);
        }
      });
    }
  }
}

// A cell is within a strong shock where the flow converges and the pressure jumps along
// some dimension.
void MusclHancock::find_shocks() {
  for_each_row(1, 0, 0, [&](long first, long count) {
    for (long c = first; c < first + count; ++c) {
      double divergence = 0;
      double jump = 0;
      for (int d = 0; d < shape_.dim; ++d) {
        const double below = primitive_[4][c - step_[d]];
        const double above = primitive_[4][c + step_[d]];
        divergence += primitive_[1 + d][c + step_[d]] - primitive_[1 + d][c - step_[d]];
        jump = std::max(jump, std::abs(above - below) / std::min(above, below));
      }
      shocked_[c] = divergence < 0 && jump > kStrongJump ? 1.0 : 0.0;
    }
  });
}

// Half a step in time from the cell's own slopes, by the primitive form of the equations.
void MusclHancock::predict(const std::array<double, 3>& cell_size, double dt) {
  for_each_row(1, 0, 0, [&](long first, long count) {
    for (long c = first; c < first + count; ++c) {
      const double density = primitive_[0][c];
      const double pressure = primitive_[4][c];
      std::array<double, 5> change{};
      double steepest_density = 0;
      double steepest_pressure = 0;
      for (int d = 0; d < shape_.dim; ++d) {
        const State& slope = slope_[d];
        const double half = 0.5 * dt / cell_size[d];
        const double normal = primitive_[1 + d][c];
        const double divergence = slope[1 + d][c];
        change[0] -= half * (normal * slope[0][c] + density * divergence);
        change[1] -= half * normal * slope[1][c];
        change[2] -= half * normal * slope[2][c];
        change[3] -= half * normal * slope[3][c];
        change[1 + d] -= half * slope[4][c] / density;
        change[4] -= half * (normal * slope[4][c] + gamma_ * pressure * divergence);
        steepest_density = std::max(steepest_density, std::abs(slope[0][c]));
        steepest_pressure = std::max(steepest_pressure, std::abs(slope[4][c]));
      }
      const bool positive = density + change[0] > 0.5 * steepest_density && pressure + change[4] > 0.5 * steepest_pressure;
      const double keep = positive ? 1.0 : 0.0;
      for (int v = 0; v < 5; ++v) {
        predicted_[v][c] = primitive_[v][c] + keep * change[v];
        for (int d = 0; d < shape_.dim; ++d) {
          slope_[d][v][c] *= keep;
        }
      }
    }
  });
}

// Fluxes through the lower face of each cell in dimension d, up to the upper face of the last one.
void MusclHancock::compute_fluxes(int d) {
  // The normal velocity first.
  const std::array<int, 5> order{0, 1 + d, 1 + (d + 1) % 3, 1 + (d + 2) % 3, 4};
  const long step = step_[d];
  for_each_row(0, d, 1, [&](long first, long count) {
    // The pointers are plain: otherwise the compiler suspects aliases everywhere and doesn't
    // vectorise.
    std::array<const double*, 5> q{};
    std::array<const double*, 5> s{};
    for (int v = 0; v < 5; ++v) {
      q[v] = predicted_[order[v]].data() + first;
      s[v] = slope_[d][order[v]].data() + first;
    }
    double* __restrict__ mass = flux_[0].data() + first;
    double* __restrict__ normal = flux_[order[1]].data() + first;
    double* __restrict__ transverse1 = flux_[order[2]].data() + first;
    double* __restrict__ transverse2 = flux_[order[3]].data() + first;
    double* __restrict__ energy = flux_[4].data() + first;
    const double* shocked = shocked_.data() + first;
    for (long c = 0; c < count; ++c) {
      const long b = c - step;
      const GasState below{q[0][b] + 0.5 * s[0][b], q[1][b] + 0.5 * s[1][b], q[2][b] + 0.5 * s[2][b], q[3][b] + 0.5 * s[3][b],
                           q[4][b] + 0.5 * s[4][b]};
      const GasState above{q[0][c] - 0.5 * s[0][c], q[1][c] - 0.5 * s[1][c], q[2][c] - 0.5 * s[2][c], q[3][c] - 0.5 * s[3][c],
                           q[4][c] - 0.5 * s[4][c]};
      const GasFlux sharp = hllc_flux(gamma_, below, above);
      const GasFlux robust = hll_flux(gamma_, below, above);
      const bool shock = shocked[b] + shocked[c] > 0;
      mass[c] = shock ? robust.mass : sharp.mass;
      normal[c] = shock ? robust.normal : sharp.normal;
      transverse1[c] = shock ? robust.transverse1 : sharp.transverse1;
      transverse2[c] = shock ? robust.transverse2 : sharp.transverse2;
      energy[c] = shock ? robust.energy : sharp.energy;
    }
  });
}

void MusclHancock::accumulate(int d, double ratio) {
  for (int v = 0; v < 5; ++v) {
    for_each_row(0, 0, 0, [&, d, v](long first, long count) {
      const double* lower = flux_[v].data() + first;
      const double* upper = lower + step_[d];
      double* __restrict__ change = change_[v].data() + first;
      for (long i = 0; i < count; ++i) {
        change[i] -= ratio * (upper[i] - lower[i]);
      }
    });
  }
}

void MusclHancock::save_face(int face, double* out) const {
  auto [inner, outer] = FluxCorrection::face_dimensions(face);
  std::array<int, 3> at{};
  at[face / 2] = face % 2 == 0 ? 0 : shape_.cells[face / 2];
  for (int b = 0; b < shape_.cells[outer]; ++b) {
    for (int a = 0; a < shape_.cells[inner]; ++a) {
      at[outer] = b;
      at[inner] = a;
      long c = place(at[0], at[1], at[2]);
      for (int v = 0; v < 5; ++v) {
        *out++ = flux_[v][c];
      }
    }
  }
}

void MusclHancock::update(double* block) const {
  for_each_cell(shape_.interior(), [&](int i, int j, int k) {
    double* cell = block + shape_.offset(i, j, k);
    long c = place(i, j, k);
    double density = cell[kDens] + change_[0][c];
    double energy = cell[kDens] * cell[kEner] + change_[4][c];
    for (int d = 0; d < 3; ++d) {
      cell[kVelx + d] = (cell[kDens] * cell[kVelx + d] + change_[1 + d][c]) / density;
    }
    cell[kDens] = density;
    cell[kEner] = energy / density;
  });
}

void MusclHancock::advance(double* block, const std::array<double, 3>& cell_size, double dt,
                           const std::array<double*, 6>& face_fluxes) {
  load(block);
  limit_slopes();
  find_shocks();
  predict(cell_size, dt);
  for (Field& field : change_) {
    std::fill(field.begin(), field.end(), 0.0);
  }
  for (int d = 0; d < shape_.dim; ++d) {
    compute_fluxes(d);
    for (int face = 2 * d; face < 2 * d + 2; ++face) {
      if (face_fluxes[face] != nullptr) {
        save_face(face, face_fluxes[face]);
      }
    }
    accumulate(d, dt / cell_size[d]);
  }
  update(block);
}

double MusclHancock::signal_rate(const double* block, const std::array<double, 3>& cell_size) const {
  double fastest = 0;
  for_each_cell(shape_.interior(), [&](int i, int j, int k) {
    const double* cell = block + shape_.offset(i, j, k);
    double squared = cell[kVelx] * cell[kVelx] + cell[kVely] * cell[kVely] + cell[kVelz] * cell[kVelz];
    double sound = std::sqrt(gamma_ * gas_pressure(gamma_, cell[kDens], cell[kEner], squared) / cell[kDens]);
    double rate = 0;
    for (int d = 0; d < shape_.dim; ++d) {
      rate += (std::abs(cell[kVelx + d]) + sound) / cell_size[d];
    }
    fastest = std::max(fastest, rate);
  });
  return fastest;
}

}  // namespace stria::flash
