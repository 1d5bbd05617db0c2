// Compares the scheme with exact solutions: a shock tube along each dimension, and convergence on
// a smooth wave.
#include "hydro/muscl_hancock.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hydro/riemann.hpp"

namespace stria::flash {
namespace {

constexpr double kGamma = 1.4;

// Sod's shock tube, exactly: the pressure between the waves by bisection of the velocity condition
// (Toro, ch. 4).
struct Sod {
  double density_l = 1, pressure_l = 1, density_r = 0.125, pressure_r = 0.1;
  double pressure = 0;
  double velocity = 0;

  Sod() {
    double low = 1e-6;
    double high = 1;
    for (int n = 0; n < 200; ++n) {
      pressure = 0.5 * (low + high);
      (wave(density_l, pressure_l) + wave(density_r, pressure_r) > 0 ? high : low) = pressure;
    }
    velocity = wave(density_r, pressure_r);
  }

  // Returns the velocity change across a wave from the given state to the middle pressure.
  double wave(double density, double p) const {
    double sound = std::sqrt(kGamma * p / density);
    if (pressure <= p) {
      return 2 * sound / (kGamma - 1) * (std::pow(pressure / p, (kGamma - 1) / (2 * kGamma)) - 1);
    }
    double a = 2 / ((kGamma + 1) * density);
    double b = (kGamma - 1) / (kGamma + 1) * p;
    return (pressure - p) * std::sqrt(a / (pressure + b));
  }

  // Returns the density at x/t: left rarefaction, contact, right shock.
  double density(double speed) const {
    double sound_l = std::sqrt(kGamma * pressure_l / density_l);
    double middle_sound = sound_l * std::pow(pressure / pressure_l, (kGamma - 1) / (2 * kGamma));
    if (speed < -sound_l) {
      return density_l;
    }
    if (speed < velocity - middle_sound) {
      double sound = 2 / (kGamma + 1) * (sound_l - (kGamma - 1) / 2 * speed);
      return density_l * std::pow(sound / sound_l, 2 / (kGamma - 1));
    }
    if (speed < velocity) {
      return density_l * std::pow(pressure / pressure_l, 1 / kGamma);
    }
    double ratio = pressure / pressure_r;
    double shock = std::sqrt(kGamma * pressure_r / density_r) *
                   std::sqrt((kGamma + 1) / (2 * kGamma) * ratio + (kGamma - 1) / (2 * kGamma));
    double g = (kGamma - 1) / (kGamma + 1);
    return speed < shock ? density_r * (ratio + g) / (g * ratio + 1) : density_r;
  }
};

// One block on its own, periodic or with copied edges.
struct Tube {
  BlockShape shape;
  std::vector<double> block;
  bool periodic;

  Tube(int dim, int n, bool is_periodic)
      : shape(BlockShape::make(dim, n, kEulerVariables)),
        block(static_cast<std::size_t>(shape.block_doubles())),
        periodic(is_periodic) {}

  void set(int i, int j, int k, double density, int d, double velocity, double pressure) {
    double* cell = block.data() + shape.offset(i, j, k);
    cell[kDens] = density;
    cell[kVelx] = cell[kVely] = cell[kVelz] = 0;
    cell[kVelx + d] = velocity;
    cell[kEner] = pressure / (kGamma - 1) / density + 0.5 * velocity * velocity;
  }

  void fill_guards() {
    CellBox all;
    for (int d = 0; d < 3; ++d) {
      all.lo[d] = -shape.guards[d];
      all.hi[d] = shape.cells[d] + shape.guards[d];
    }
    auto inside = [&](int c, int n) { return periodic ? (c + n) % n : std::clamp(c, 0, n - 1); };
    for_each_cell(all, [&](int i, int j, int k) {
      const double* from =
          block.data() + shape.offset(inside(i, shape.cells[0]), inside(j, shape.cells[1]), inside(k, shape.cells[2]));
      std::copy(from, from + kEulerVariables, block.data() + shape.offset(i, j, k));
    });
  }

  void run(double end, double dt_over_dx) {
    MusclHancock scheme(shape, kGamma);
    const double dx = 1.0 / shape.cells[0];
    auto steps = static_cast<int>(std::ceil(end / (dt_over_dx * dx)));
    for (int s = 0; s < steps; ++s) {
      fill_guards();
      scheme.advance(block.data(), {dx, dx, dx}, end / steps, {});
    }
  }
};

using FluxFunction = GasFlux (*)(double, const GasState&, const GasState&);

class Riemann : public testing::TestWithParam<FluxFunction> {};

TEST_P(Riemann, FluxOfEqualStatesIsTheirOwn) {
  const GasState state{1.3, 0.4, -0.2, 0.7, 2.1};
  GasFlux flux = GetParam()(kGamma, state, state);
  double energy = 2.1 / 0.4 + 0.5 * 1.3 * (0.16 + 0.04 + 0.49);
  EXPECT_NEAR(flux.mass, 1.3 * 0.4, 1e-14);
  EXPECT_NEAR(flux.normal, 1.3 * 0.16 + 2.1, 1e-14);
  EXPECT_NEAR(flux.transverse1, 1.3 * 0.4 * -0.2, 1e-14);
  EXPECT_NEAR(flux.transverse2, 1.3 * 0.4 * 0.7, 1e-14);
  EXPECT_NEAR(flux.energy, (energy + 2.1) * 0.4, 1e-13);
}

TEST_P(Riemann, MirroredStatesMirrorTheFlux) {
  const GasState l{1.0, 0.3, 0.1, -0.4, 1.0};
  const GasState r{0.125, -0.2, 0.5, 0.2, 0.1};
  auto mirror = [](GasState s) {
    s.normal = -s.normal;
    return s;
  };
  GasFlux flux = GetParam()(kGamma, l, r);
  GasFlux mirrored = GetParam()(kGamma, mirror(r), mirror(l));
  EXPECT_NEAR(mirrored.mass, -flux.mass, 1e-14);
  EXPECT_NEAR(mirrored.normal, flux.normal, 1e-14);
  EXPECT_NEAR(mirrored.transverse1, -flux.transverse1, 1e-14);
  EXPECT_NEAR(mirrored.energy, -flux.energy, 1e-14);
}

TEST_P(Riemann, SupersonicFlowTakesTheUpwindFlux) {
  const GasState l{1.0, 5.0, 0.1, 0.2, 1.0};
  const GasState r{0.5, 6.0, 0.3, 0.4, 0.7};
  GasFlux flux = GetParam()(kGamma, l, r);
  EXPECT_NEAR(flux.mass, 5.0, 1e-13);
  EXPECT_NEAR(flux.normal, 26.0, 1e-13);
  EXPECT_NEAR(flux.transverse1, 0.5, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Solvers, Riemann, testing::Values(&hllc_flux, &hll_flux));

TEST(RiemannContact, StandingStillStaysExactly) {
  GasFlux flux = hllc_flux(kGamma, {1, 0, 0, 0, 1}, {10, 0, 0, 0, 1});
  EXPECT_EQ(flux.mass, 0.0);
  EXPECT_NEAR(flux.normal, 1.0, 1e-15);
  EXPECT_EQ(flux.energy, 0.0);
}

TEST(MusclHancock, SodTubeAgreesWithTheExactSolutionAlongEveryDimension) {
  const Sod sod;
  ASSERT_NEAR(sod.pressure, 0.30313, 1e-5);  // Toro, table 4.3
  ASSERT_NEAR(sod.velocity, 0.92745, 1e-5);
  for (int d = 0; d < 3; ++d) {
    const int n = 64;
    Tube tube(d == 2 ? 3 : 2, d == 2 ? 32 : n, false);
    const int cells = tube.shape.cells[0];
    for_each_cell(tube.shape.interior(), [&](int i, int j, int k) {
      bool left = std::array<int, 3>{i, j, k}[d] < cells / 2;
      tube.set(i, j, k, left ? 1 : 0.125, d, 0, left ? 1 : 0.1);
    });
    const double end = 0.2;
    tube.run(end, 0.2);
    double error = 0;
    for (int c = 0; c < cells; ++c) {
      std::array<int, 3> at{3, 3, d == 2 ? 3 : 0};
      at[d] = c;
      double x = (c + 0.5) / cells - 0.5;
      error += std::abs(tube.block[tube.shape.offset(at[0], at[1], at[2]) + kDens] - sod.density(x / end)) / cells;
    }
    EXPECT_LT(error, d == 2 ? 0.016 : 0.008) << "dimension " << d;
  }
}

TEST(MusclHancock, SmoothWaveConvergesAtSecondOrder) {
  // A density wave travels along the diagonal: the exact solution is the initial state, displaced.
  double previous = 0;
  for (int n : {16, 32, 64}) {
    Tube tube(2, n, true);
    auto density = [&](int i, int j, double time) {
      return 1 + 0.2 * std::sin(2 * M_PI * ((i + 0.5) / n + (j + 0.5) / n - 2 * time));
    };
    for_each_cell(tube.shape.interior(), [&](int i, int j, int k) {
      tube.set(i, j, k, density(i, j, 0), 0, 1.0, 1.0);
      double* cell = tube.block.data() + tube.shape.offset(i, j, k);
      cell[kVely] = 1.0;
      cell[kEner] += 0.5;
    });
    tube.run(0.5, 0.15);
    double error = 0;
    for_each_cell(tube.shape.interior(), [&](int i, int j, int k) {
      error += std::abs(tube.block[tube.shape.offset(i, j, k) + kDens] - density(i, j, 0.5)) / (n * n);
    });
    if (previous > 0) {
      EXPECT_GT(std::log2(previous / error), n == 64 ? 1.75 : 1.5) << n << " cells";
    }
    previous = error;
  }
}

}  // namespace
}  // namespace stria::flash
