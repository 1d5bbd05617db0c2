// Gas on meshes with many refinement jumps: conservation through the jumps, the same bits on any
// number of ranks.
#include "hydro/hydro.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mesh/random_mesh.hpp"
#include "sedov/diagnostics.hpp"

namespace stria::flash {
namespace {

constexpr double kGamma = 1.4;

// Makes a swirling flow of varying density and pressure, periodic.
void set_swirl(Mesh* mesh) {
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
      const std::array<int, 3> at{i, j, k};
      std::array<double, 3> phase{};
      for (int d = 0; d < mesh->domain().dim; ++d) {
        phase[d] = 2 * std::numbers::pi * cell_center(mesh->domain(), mesh->leaves()[b], d, at[d], mesh->shape().cells[d]);
      }
      double* cell = mesh->block(b) + mesh->shape().offset(i, j, k);
      cell[kDens] = 1 + 0.5 * std::sin(phase[0]) * std::cos(phase[1]) + 0.2 * std::sin(phase[2]);
      cell[kVelx] = 0.8 * std::sin(phase[1]) + 0.3;
      cell[kVely] = -0.8 * std::sin(phase[0]) + 0.2 * std::cos(phase[2]);
      cell[kVelz] = 0.4 * std::cos(phase[0] + phase[1]);
      const double pressure = 1 + 0.3 * std::cos(phase[0] + phase[1] + phase[2]);
      cell[kEner] = pressure / (kGamma - 1) / cell[kDens] +
                    0.5 * (cell[kVelx] * cell[kVelx] + cell[kVely] * cell[kVely] + cell[kVelz] * cell[kVelz]);
    });
  }
}

// Returns the integrals of mass, momentum and energy.
std::array<double, 5> integrals(const Mesh& mesh) {
  std::array<double, 5> mine{};
  for (int64_t b = 0; b < mesh.block_count(); ++b) {
    const double volume = std::pow(0.5, mesh.domain().dim * mesh.leaves()[b].level);
    for_each_cell(mesh.shape().interior(), [&](int i, int j, int k) {
      const double* cell = mesh.block(b) + mesh.shape().offset(i, j, k);
      const double weight = volume * cell[kDens] / static_cast<double>(mesh.shape().interior_cells());
      const double values[5] = {1, cell[kVelx], cell[kVely], cell[kVelz], cell[kEner]};
      for (int v = 0; v < 5; ++v) {
        mine[v] += weight * values[v];
      }
    });
  }
  std::array<double, 5> all{};
  MPI_Allreduce(mine.data(), all.data(), 5, MPI_DOUBLE, MPI_SUM, mesh.comm());
  return all;
}

// Steps of gas dynamics on a mesh that changes at random between them.
uint64_t storm(MPI_Comm comm, int dim, unsigned seed) {
  auto mesh = random_mesh(comm, options_for(dim, Boundary::kPeriodic, euler_variables()), seed);
  Hydro hydro(mesh->shape(), kGamma);
  set_swirl(mesh.get());
  for (unsigned step = 0; step < (dim == 2 ? 12 : 2); ++step) {
    mesh->fill_guards();
    hydro.advance(mesh.get(), hydro.stable_time_step(*mesh, 0.8));
    adapt_randomly(mesh.get(), seed + 100 + step);
    hydro.derive_interiors(mesh.get());
  }
  return state_hash(*mesh);
}

class HydroTest : public testing::TestWithParam<int> {};

TEST_P(HydroTest, ConservesThroughRefinementJumps) {
  auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kPeriodic, euler_variables()), 33);
  auto jumps = static_cast<int>(mesh->fluxes().coarse_faces().size());
  int all_jumps = 0;
  MPI_Allreduce(&jumps, &all_jumps, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ASSERT_GT(all_jumps, 10);
  Hydro hydro(mesh->shape(), kGamma);
  set_swirl(mesh.get());
  const auto before = integrals(*mesh);
  for (int step = 0; step < 4; ++step) {
    mesh->fill_guards();
    hydro.advance(mesh.get(), hydro.stable_time_step(*mesh, 0.8));
  }
  const auto after = integrals(*mesh);
  for (int v = 0; v < 5; ++v) {
    EXPECT_NEAR(after[v], before[v], 2e-14 * before[4]) << "component " << v;
  }
}

TEST_P(HydroTest, UniformFlowStaysUniformAcrossJumps) {
  auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kPeriodic, euler_variables()), 8);
  Hydro hydro(mesh->shape(), kGamma);
  const std::array<double, 5> flow{1.5, 0.7, -0.3, 0.2, 3.0};
  const std::array<int, 5> variables{kDens, kVelx, kVely, kVelz, kEner};
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
      for (int v = 0; v < 5; ++v) {
        mesh->block(b)[mesh->shape().offset(i, j, k) + variables[v]] = flow[v];
      }
    });
  }
  for (int step = 0; step < 3; ++step) {
    mesh->fill_guards();
    hydro.advance(mesh.get(), hydro.stable_time_step(*mesh, 0.8));
  }
  double worst = 0;
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
      for (int v = 0; v < 5; ++v) {
        worst = std::max(worst, std::abs(mesh->block(b)[mesh->shape().offset(i, j, k) + variables[v]] - flow[v]));
      }
    });
  }
  EXPECT_LT(worst, 1e-13);
}

TEST_P(HydroTest, SameBitsOnAnyNumberOfRanksWhileTheMeshChangesAtRandom) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (unsigned seed : GetParam() == 2 ? std::vector<unsigned>{11, 50, 60} : std::vector<unsigned>{9}) {
    uint64_t alone = rank == 0 ? storm(MPI_COMM_SELF, GetParam(), seed) : 0;
    MPI_Bcast(&alone, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    EXPECT_EQ(storm(MPI_COMM_WORLD, GetParam(), seed), alone) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, HydroTest, testing::Values(2, 3));

}  // namespace
}  // namespace stria::flash
