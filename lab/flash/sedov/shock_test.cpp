// Compares the blast wave on an adaptive mesh with the exact solution.
#include <gtest/gtest.h>

#include <cmath>

#include "sedov/diagnostics.hpp"
#include "sedov/exact.hpp"
#include "sedov/sedov_run.hpp"

namespace stria::flash {
namespace {

// Checks the shock's place at several times, after the blast has outgrown the ball from
// which it started.
void expect_shock_where_it_belongs(const SedovOptions& options, std::initializer_list<double> radii) {
  const auto exact = SedovSolution::make({options.dim, 1.4, 1.0, 1.0}).value();
  auto run = SedovRun::start(MPI_COMM_WORLD, options).value();
  const double finest_cell = 1.0 / options.nxb / (1 << (options.max_level - 1));
  for (double radius : radii) {
    while (run->scalars().time < exact.time_at(radius)) {
      ASSERT_TRUE(run->step().ok());
    }
    double expected = exact.shock_radius(run->scalars().time);
    EXPECT_NEAR(numerical_shock_radius(run->mesh()), expected, finest_cell);
  }
}

TEST(SedovShock, RadiusIsWithinOneFinestCellIn2D) {
  SedovOptions options;
  options.dim = 2;
  options.max_level = 4;
  expect_shock_where_it_belongs(options, {0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45});
}

TEST(SedovShock, RadiusIsWithinOneFinestCellIn3D) {
  SedovOptions options;
  options.dim = 3;
  options.max_level = 3;
  expect_shock_where_it_belongs(options, {0.25, 0.3, 0.35, 0.4});
}

TEST(SedovProfile, DensityAndPressureBehindTheShockFollowTheExactOnes) {
  SedovOptions options;
  options.dim = 2;
  options.max_level = 5;
  const auto exact = SedovSolution::make({2, 1.4, 1.0, 1.0}).value();
  options.end_time = exact.time_at(0.4);
  options.max_steps = 2000;
  auto run = SedovRun::start(MPI_COMM_WORLD, options).value();
  while (!run->finished()) {
    ASSERT_TRUE(run->step().ok());
  }
  EXPECT_EQ(run->scalars().time, options.end_time);
  RadialProfile profile = density_profile(run->mesh());
  double error = 0;
  double mass = 0;
  for (std::size_t s = 0; s < profile.density.size(); ++s) {
    double radius = (static_cast<double>(s) + 0.5) * profile.shell_width;
    if (profile.density[s] >= 0 && radius < 0.5) {
      error += radius * std::abs(profile.density[s] - exact.at(radius, options.end_time).density);
      mass += radius;
    }
  }
  EXPECT_LT(error / mass, 0.2);  // mean error against a peak of 6
}

}  // namespace
}  // namespace stria::flash
