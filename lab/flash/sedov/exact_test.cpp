// Compares the exact blast wave with published numbers, and with the conservation laws that its
// profiles must obey.
#include "sedov/exact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace stria::flash {
namespace {

TEST(SedovSolution, EnergyIntegralMatchesThePublishedOne) {
  // Kamm & Timmes 2007: gamma = 1.4, spherical: E = 0.851072 brings the shock to
  // radius 1 at time 1.
  auto sphere = SedovSolution::make({3, 1.4, 0.851072, 1.0}).value();
  EXPECT_NEAR(sphere.alpha(), 0.851072, 1e-6);
  EXPECT_NEAR(sphere.shock_radius(1.0), 1.0, 1e-6);
  // Cylindrical: E = 0.311357 brings it to 0.75.
  auto cylinder = SedovSolution::make({2, 1.4, 0.311357, 1.0}).value();
  EXPECT_NEAR(cylinder.shock_radius(1.0), 0.75, 1e-5);
}

TEST(SedovSolution, StrongShockRelationsHold) {
  auto blast = SedovSolution::make({3, 1.4, 1.0, 1.0}).value();
  const double time = 0.05;
  const double radius = blast.shock_radius(time);
  EXPECT_NEAR(blast.time_at(radius), time, 1e-14);
  const double speed = 0.4 * radius / time;
  SedovState behind = blast.at(radius * (1 - 1e-9), time);
  EXPECT_NEAR(behind.density, 6.0, 1e-6);
  EXPECT_NEAR(behind.velocity, speed / 1.2, 1e-6 * speed);
  EXPECT_NEAR(behind.pressure, speed * speed / 1.2, 1e-6 * speed * speed);
  SedovState ahead = blast.at(radius * (1 + 1e-9), time);
  EXPECT_EQ(ahead.density, 1.0);
  EXPECT_EQ(ahead.velocity, 0.0);
  EXPECT_EQ(ahead.pressure, 0.0);
}

// Mass and energy within the shock: the profiles come from the closed form, the integrals from the
// midpoint rule.
TEST(SedovSolution, ProfilesHoldTheSweptMassAndTheEnergy) {
  for (int dim : {2, 3}) {
    for (double gamma : {1.2, 1.4, 5.0 / 3}) {
      SCOPED_TRACE(testing::Message() << "dim " << dim << " gamma " << gamma);
      const double density = 0.7;
      const double energy = 1.3;
      auto blast = SedovSolution::make({dim, gamma, energy, density}).value();
      const double time = 0.1;
      const double shock = blast.shock_radius(time);
      const double solid_angle = dim == 2 ? 2 * std::numbers::pi : 4 * std::numbers::pi;
      double mass_sum = 0;
      double energy_sum = 0;
      const int shells = 20000;
      for (int s = 0; s < shells; ++s) {
        double r = (s + 0.5) / shells * shock;
        SedovState gas = blast.at(r, time);
        double volume = solid_angle * std::pow(r, dim - 1) * shock / shells;
        mass_sum += gas.density * volume;
        energy_sum += (0.5 * gas.density * gas.velocity * gas.velocity + gas.pressure / (gamma - 1)) * volume;
      }
      EXPECT_NEAR(mass_sum / (density * solid_angle / dim * std::pow(shock, dim)), 1.0, 1e-4);
      EXPECT_NEAR(energy_sum / energy, 1.0, 1e-4);
    }
  }
}

TEST(SedovSolution, RefusesWhatItCannotSolve) {
  EXPECT_EQ(SedovSolution::make({1, 1.4, 1, 1}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(SedovSolution::make({3, 2.0, 1, 1}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(SedovSolution::make({3, 1.4, 0, 1}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(SedovSolution::make({3, 1.4, 1, -1}).status().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace stria::flash
