// The scheme against what is known: blocks, the multigrid against its own equation, a layer that
// stays at rest, heat by the exact solution, rolls that grow, and the same bits on any ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "physics/multigrid.hpp"
#include "run/convection_run.hpp"
#include "stria/status.hpp"

namespace stria::convection {
namespace {

/// Returns the whole plane, in rank 0's memory: `value(j, i)` of each rank's cells.
template <typename Value>
std::vector<double> on_root(const Grid& grid, Value value) {
  std::vector<double> mine(static_cast<size_t>(grid.nx * grid.nz));
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      mine[static_cast<size_t>((grid.z0 + j) * grid.nx + grid.x0 + i)] = value(j, i);
    }
  }
  std::vector<double> all(mine.size());  // every cell is one rank's and 0 elsewhere
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

TEST(Grid, BlocksCoverThePlaneOnce) {
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 72);
  const std::vector<double> cells = on_root(grid, [](int64_t, int64_t) { return 1.0; });
  for (const double cell : cells) {
    EXPECT_TRUE(grid.rank != 0 || cell == 1);
  }
  EXPECT_THROW(Grid::divide(MPI_COMM_WORLD, 60, 72), Error);
  EXPECT_THROW(Grid::divide(MPI_COMM_WORLD, 0, 8), Error);
  if (grid.rows * grid.columns > 1) {
    EXPECT_THROW(Grid::divide(MPI_COMM_WORLD, 8, 8), Error);
  }
}

/// Fills in an equation that hardly holds its values: neighbours are coupled a thousand times as
/// strongly. Coefficients change by a factor of 5.
void fill(Multigrid& multigrid, const Grid& grid) {
  const auto number = [&](int64_t j, int64_t i, int which) {
    const double x = 4 * std::numbers::pi * static_cast<double>(grid.x0 + i) / static_cast<double>(grid.nx);
    const double z = 3 * static_cast<double>(grid.z0 + j) / static_cast<double>(grid.nz);
    return 1.5 + std::sin(x + which) * std::cos(z + which);
  };
  for (int64_t j = 0; j <= grid.mz; ++j) {
    for (int64_t i = 0; i <= grid.mx; ++i) {
      multigrid.west()(j, i) = 40 * number(j, i, 1);
      const bool top = grid.at_top() && j == 0;  // Its 0 is half a cell away.
      const bool bottom = grid.at_bottom() && j == grid.mz;
      multigrid.up()(j, i) = bottom ? 0 : (top ? 2 : 1) * 60 * number(j, i, 2);
      multigrid.diagonal()(j, i) = 0.02 * number(j, i, 3);
      multigrid.right_side()(j, i) = number(j, i, 4) - 1;
    }
  }
}

TEST(Multigrid, TheSolutionSolvesTheEquation) {
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 128);
  Multigrid multigrid(grid);
  fill(multigrid, grid);
  const int cycles = multigrid.solve(1e-10);
  EXPECT_LE(cycles, 20);
  const Field& x = multigrid.solution();
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      const double west = multigrid.west()(j, i) * (x(j, i) - x(j, i - 1));
      const double east = multigrid.west()(j, i + 1) * (x(j, i) - x(j, i + 1));
      const double up = multigrid.up()(j, i) * (x(j, i) - x(j - 1, i));
      const double down = multigrid.up()(j + 1, i) * (x(j, i) - x(j + 1, i));
      const double left = multigrid.diagonal()(j, i) * x(j, i) + west + east + up + down;
      ASSERT_NEAR(left, multigrid.right_side()(j, i), 1e-8);
    }
  }
}

TEST(Multigrid, ItIsTheSameOnAnyNumberOfRanks) {
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 64);
  Multigrid multigrid(grid);
  fill(multigrid, grid);
  multigrid.solve(1e-6);
  const auto divided = on_root(grid, [&](int64_t j, int64_t i) { return multigrid.solution()(j, i); });
  const Grid whole = Grid::whole(64, 64);
  Multigrid alone(whole);
  fill(alone, whole);
  alone.solve(1e-6);
  for (int64_t j = 0; j < 64 && grid.rank == 0; ++j) {
    for (int64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(divided[static_cast<size_t>(j * 64 + i)], alone.solution()(j, i));
    }
  }
}

TEST(Gas, ALayerAtRestStaysAtRest) {
  Layer layer;
  layer.kick = 0;
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 64);
  ConvectionRun run(grid, layer, 0.5);
  GasDynamics dynamics(grid, layer);
  for (int step = 0; step < 20; ++step) {
    dynamics.step(run.gas(), 0.5 * dynamics.longest_step(run.gas()), step % 2 == 1);
  }
  EXPECT_LT(run.largest_mach(), 1e-12);
}

// A sound wave of small amplitude along x comes back after one period; its error falls with the
// square of the cells' size.
double error_of_wave(int64_t nx) {
  Layer layer;
  layer.kick = 0;
  layer.contrast = 1e-9;  // no gravity to speak of
  layer.aspect = 1;
  const Grid grid = Grid::whole(nx, 8);
  ConvectionRun run(grid, layer, 0.5);
  GasDynamics dynamics(grid, layer);
  const double sound = std::sqrt(layer.gamma);
  const double size = 1e-4;
  const auto wave = [&](int64_t i) {
    return size * std::sin(2 * std::numbers::pi * (static_cast<double>(grid.x0 + i) + 0.5) / static_cast<double>(nx));
  };
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      const double density = 1 + wave(i);
      const double momentum = density * sound * wave(i);
      run.gas().density(j, i) = density;
      run.gas().momentum_x(j, i) = momentum;
      run.gas().energy(j, i) = (1 + layer.gamma * wave(i)) / (layer.gamma - 1) + 0.5 * momentum * momentum / density;
    }
  }
  const int steps = static_cast<int>(4 * nx);
  for (int step = 0; step < steps; ++step) {
    dynamics.step(run.gas(), 1 / sound / steps, step % 2 == 1);
  }
  double sum = 0;
  for (int64_t i = 0; i < grid.mx; ++i) {
    sum += std::abs(run.gas().density(0, i) - 1 - wave(i)) / size / static_cast<double>(nx);
  }
  return sum;
}

TEST(Gas, ASoundWaveComesBackToSecondOrder) {
  const double coarse = error_of_wave(16);
  const double fine = error_of_wave(32);
  EXPECT_LT(fine, 0.05);
  EXPECT_LT(fine, coarse / 2.7) << coarse << " " << fine;  // the limiter flattens the crests
}

// Heat comes in through the bottom and leaves through the top: what stays is what the gas gains.
TEST(Diffusion, WhatFlowsInAndOutIsWhatIsGained) {
  Layer layer;
  layer.kick = 0;
  layer.conductivity = 0.3;
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 64);
  ConvectionRun run(grid, layer, 0.5);
  Diffusion diffusion(grid, layer);
  const auto energy = [&] {
    double sum = 0;
    for (int64_t j = 0; j < grid.mz; ++j) {
      for (int64_t i = 0; i < grid.mx; ++i) {
        sum += run.gas().energy(j, i) / static_cast<double>(grid.nx * grid.nz);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  const auto top = [&] {
    double heat = 0;
    for (int64_t i = 0; grid.at_top() && i < grid.mx; ++i) {
      heat += 2 * layer.conductivity_at(1) * (run.temperature(0, i) - 1) * static_cast<double>(grid.nz) /
              static_cast<double>(grid.nx);
    }
    MPI_Allreduce(MPI_IN_PLACE, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return heat;
  };
  const double dt = 1e-3;
  for (int step = 0; step < 4; ++step) {
    const double before = energy();
    const double lost_before = top();
    diffusion.step(run.gas(), dt);
    ASSERT_NEAR(energy() - before, dt * (layer.heating() - 0.5 * (lost_before + top())), 1e-10);
  }
}

TEST(Run, ADisturbanceGrowsIntoRollsAndNoMassIsLost) {
  Layer layer;
  layer.kick = 0.01;
  ConvectionRun run(Grid::whole(64, 32), layer, 0.5);
  const auto mass = [&] {
    double sum = 0;
    for (int64_t j = 0; j < run.grid().mz; ++j) {
      for (int64_t i = 0; i < run.grid().mx; ++i) {
        sum += run.gas().density(j, i);
      }
    }
    return sum;
  };
  const double before = mass();
  const double slow = run.largest_mach();
  while (run.steps() < 250) {
    run.step();
  }
  EXPECT_GT(run.largest_mach(), 3 * slow);
  EXPECT_LT(run.largest_mach(), 1);
  EXPECT_NEAR(mass() / before, 1, 1e-12);
}

TEST(Run, ItIsTheSameBitByBitOnAnyNumberOfRanks) {
  Layer layer;
  ConvectionRun divided(Grid::divide(MPI_COMM_WORLD, 64, 64), layer, 0.5);
  ConvectionRun alone(Grid::whole(64, 64), layer, 0.5);
  for (int step = 0; step < 10; ++step) {
    divided.step();
    alone.step();
    ASSERT_EQ(divided.dt(), alone.dt());
  }
  const Grid& grid = divided.grid();
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      ASSERT_EQ(divided.gas().energy(j, i), alone.gas().energy(grid.z0 + j, grid.x0 + i));
      ASSERT_EQ(divided.gas().momentum_z(j, i), alone.gas().momentum_z(grid.z0 + j, grid.x0 + i));
    }
  }
  const auto mine = divided.averages();
  const auto all = alone.averages();
  EXPECT_EQ(mine.empty(), grid.column() > 0);
  if (!mine.empty()) {
    const auto first = all.begin() + grid.z0 * static_cast<int64_t>(kAverages.size());
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), first));
  }
}

TEST(Run, ImpossiblePhysicsIsRefused) {
  Layer layer;
  layer.gamma = 1;
  const Grid grid = Grid::divide(MPI_COMM_WORLD, 64, 64);
  EXPECT_THROW(ConvectionRun(grid, layer, 0.5), Error);
  EXPECT_THROW(ConvectionRun(grid, Layer(), 1.5), Error);
}

}  // namespace
}  // namespace stria::convection
