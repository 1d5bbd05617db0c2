// The mesh on 1 to 7 ranks: guard cells, adaptation, neighbours, rebuilding from a list of leaves.
#include "mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "hydro/euler.hpp"
#include "mesh/random_mesh.hpp"

namespace stria::flash {
namespace {

std::vector<Leaf> gather_leaves(const Mesh& mesh) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> counts;
  std::vector<int> offsets;
  for (int r = 0; r < ranks; ++r) {
    offsets.push_back(static_cast<int>(mesh.first_blocks()[r] * static_cast<int64_t>(sizeof(Leaf))));
    counts.push_back(
        static_cast<int>((mesh.first_blocks()[r + 1] - mesh.first_blocks()[r]) * static_cast<int64_t>(sizeof(Leaf))));
  }
  std::vector<Leaf> all(static_cast<std::size_t>(mesh.global_block_count()));
  MPI_Allgatherv(mesh.leaves().data(), static_cast<int>(mesh.leaves().size_bytes()), MPI_BYTE, all.data(), counts.data(),
                 offsets.data(), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

VariableSet one_variable() {
  VariableSet variables;
  variables.names = {"dens"};
  variables.transferred = {{0, false, -1}};
  return variables;
}

CellBox with_guards(const BlockShape& shape) {
  CellBox box;
  for (int d = 0; d < 3; ++d) {
    box.lo[d] = -shape.guards[d];
    box.hi[d] = shape.cells[d] + shape.guards[d];
  }
  return box;
}

std::array<double, 3> place(const Mesh& mesh, const Leaf& leaf, int i, int j, int k) {
  const std::array<int, 3> at{i, j, k};
  std::array<double, 3> x{};
  for (int d = 0; d < mesh.domain().dim; ++d) {
    x[d] = cell_center(mesh.domain(), leaf, d, at[d], mesh.shape().cells[d]);
  }
  return x;
}

class MeshTest : public testing::TestWithParam<int> {};

TEST_P(MeshTest, GuardCellsOfALinearFieldAreExactInsideTheDomain) {
  for (unsigned seed : {1u, 50u}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kOutflow, one_variable()), seed);
    auto field = [](const std::array<double, 3>& x) { return 1 + 2 * x[0] - 3 * x[1] + 5 * x[2]; };
    std::set<int> levels;
    for (int64_t b = 0; b < mesh->block_count(); ++b) {
      const Leaf& leaf = mesh->leaves()[b];
      levels.insert(leaf.level);
      std::fill(mesh->block(b), mesh->block(b) + mesh->shape().block_doubles(), -1e30);
      for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
        mesh->block(b)[mesh->shape().offset(i, j, k)] = field(place(*mesh, leaf, i, j, k));
      });
    }
    mesh->fill_guards();
    // Next to the domain's side the slope is limited to zero. So fine cells within one coarse cell
    // of it are left out.
    const double rim = 2 * block_length(mesh->domain(), 1, 0) / 8;
    for (int64_t b = 0; b < mesh->block_count(); ++b) {
      const Leaf& leaf = mesh->leaves()[b];
      double worst = 0;
      for_each_cell(with_guards(mesh->shape()), [&](int i, int j, int k) {
        auto x = place(*mesh, leaf, i, j, k);
        bool inside = true;
        for (int d = 0; d < GetParam(); ++d) {
          inside = inside && x[d] > rim && x[d] < 1 - rim;
        }
        double value = mesh->block(b)[mesh->shape().offset(i, j, k)];
        EXPECT_TRUE(std::isfinite(value) && value > -1e29);
        worst = inside ? std::max(worst, std::abs(value - field(x))) : worst;
      });
      EXPECT_LT(worst, 1e-12);
    }
  }
}

TEST_P(MeshTest, PeriodicGuardCellsSeeTheOtherSide) {
  auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kPeriodic, one_variable()), 9);
  auto field = [](const std::array<double, 3>& x) { return std::sin(2 * M_PI * (x[0] + 2 * x[1] + x[2])); };
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
      mesh->block(b)[mesh->shape().offset(i, j, k)] = field(place(*mesh, mesh->leaves()[b], i, j, k));
    });
  }
  mesh->fill_guards();
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(with_guards(mesh->shape()), [&](int i, int j, int k) {
      double value = mesh->block(b)[mesh->shape().offset(i, j, k)];
      EXPECT_NEAR(value, field(place(*mesh, mesh->leaves()[b], i, j, k)), 0.5);
    });
  }
}

TEST_P(MeshTest, ReflectingWallsTurnTheNormalVelocityRound) {
  auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kReflect, euler_variables()), 5);
  const BlockShape& shape = mesh->shape();
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(shape.interior(), [&](int i, int j, int k) {
      double* cell = mesh->block(b) + shape.offset(i, j, k);
      cell[kDens] = 2;
      cell[kVelx] = 3;
      cell[kVely] = 5;
      cell[kVelz] = 7;
      cell[kEner] = 100;
    });
  }
  mesh->fill_guards();
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(with_guards(shape), [&](int i, int j, int k) {
      const double* cell = mesh->block(b) + shape.offset(i, j, k);
      auto x = place(*mesh, mesh->leaves()[b], i, j, k);
      auto sign = [&](int d) { return d < GetParam() && (x[d] < 0 || x[d] > 1) ? -1 : 1; };
      EXPECT_NEAR(cell[kDens], 2, 1e-14);
      EXPECT_NEAR(cell[kVelx], 3 * sign(0), 1e-14);
      EXPECT_NEAR(cell[kVely], 5 * sign(1), 1e-14);
      EXPECT_NEAR(cell[kVelz], 7 * sign(2), 1e-14);
    });
  }
}

TEST_P(MeshTest, AdaptingConservesAndKeepsFamiliesTogether) {
  auto mesh = Mesh::create(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kOutflow, one_variable())).value();
  std::mt19937_64 random(77);
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for_each_cell(mesh->shape().interior(), [&](int i, int j, int k) {
      mesh->block(b)[mesh->shape().offset(i, j, k)] = 1 + static_cast<double>(random() % 1000);
    });
  }
  auto mass = [&] {
    double mine = 0;
    for (int64_t b = 0; b < mesh->block_count(); ++b) {
      double volume = std::pow(0.5, GetParam() * mesh->leaves()[b].level);
      for_each_cell(mesh->shape().interior(),
                    [&](int i, int j, int k) { mine += volume * mesh->block(b)[mesh->shape().offset(i, j, k)]; });
    }
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  };
  const double before = mass();
  for (unsigned round = 0; round < 6; ++round) {
    adapt_randomly(mesh.get(), round);
    EXPECT_NEAR(mass() / before, 1, 1e-13) << "round " << round;
    // A family of leaves in the whole mesh is on one rank.
    std::vector<Leaf> all = gather_leaves(*mesh);
    for (int64_t b = 0; b < mesh->block_count(); ++b) {
      int64_t g = mesh->first_block() + b;
      const auto& leaf = mesh->leaves()[b];
      int64_t first = g - leaf.child_number();
      int64_t last = first + (1 << GetParam()) - 1;
      bool family = first >= 0 && last < static_cast<int64_t>(all.size()) && all[first].level == leaf.level &&
                    all[last].level == leaf.level && all[first].parent() == leaf.parent() &&
                    all[last].parent() == leaf.parent();
      EXPECT_TRUE(!family || (first >= mesh->first_block() && last < mesh->first_block() + mesh->block_count()));
    }
  }
}

TEST_P(MeshTest, BlockTableNamesNeighboursBothWays) {
  auto mesh = random_mesh(MPI_COMM_WORLD, options_for(GetParam(), Boundary::kOutflow, one_variable()), 21);
  BlockTable table = mesh->block_table();
  std::vector<Leaf> all = gather_leaves(*mesh);
  ASSERT_EQ(table.global_count, static_cast<int64_t>(all.size()));
  ASSERT_EQ(table.gid.size(), static_cast<std::size_t>(table.local_count * table.gid_width()));
  for (int64_t b = 0; b < table.local_count; ++b) {
    const Leaf& leaf = mesh->leaves()[b];
    EXPECT_EQ(all[table.first_block + b], leaf);
    const int32_t* gid = table.gid.data() + b * table.gid_width();
    for (int face = 0; face < 2 * GetParam(); ++face) {
      Leaf next = leaf;
      next.index[face / 2] += face % 2 == 0 ? -1 : 1;
      bool outside = next.index[face / 2] < 0 || next.index[face / 2] >= (int64_t{1} << leaf.level);
      auto found = std::find(all.begin(), all.end(), next);
      int32_t expected = outside ? kOutflowSide : found == all.end() ? kNoBlock : static_cast<int32_t>(found - all.begin()) + 1;
      EXPECT_EQ(gid[face], expected);
    }
    for (int entry = 2 * GetParam(); entry < table.gid_width(); ++entry) {
      EXPECT_EQ(gid[entry], kNoBlock);
    }
    EXPECT_EQ(table.refine_level[b], leaf.level + 1);
    EXPECT_EQ(table.which_child[b], leaf.child_number() + 1);
    for (int d = 0; d < 3; ++d) {
      EXPECT_DOUBLE_EQ(table.bounding_box[6 * b + 2 * d + 1] - table.bounding_box[6 * b + 2 * d], table.block_size[3 * b + d]);
    }
  }
}

TEST_P(MeshTest, IsRebuiltFromItsLeavesAndFromNoOthers) {
  MeshOptions options = options_for(GetParam(), Boundary::kOutflow, one_variable());
  auto mesh = random_mesh(MPI_COMM_WORLD, options, 33);
  std::vector<Leaf> all = gather_leaves(*mesh);
  auto again = Mesh::from_leaves(MPI_COMM_WORLD, options, all).value();
  EXPECT_EQ(gather_leaves(*again), all);
  auto code = [&](const std::vector<Leaf>& leaves) {
    return Mesh::from_leaves(MPI_COMM_WORLD, options, leaves).status().code();
  };
  EXPECT_EQ(code({}), ErrorCode::kFormat);
  EXPECT_EQ(code({all.begin(), all.end() - 1}), ErrorCode::kFormat);
  std::vector<Leaf> swapped = all;
  std::swap(swapped[0], swapped[1]);
  EXPECT_EQ(code(swapped), ErrorCode::kFormat);
  std::vector<Leaf> twice = all;
  twice.push_back(all.back());
  EXPECT_EQ(code(twice), ErrorCode::kFormat);
  std::vector<Leaf> deep = all;
  deep[0].level = 40;
  EXPECT_EQ(code(deep), ErrorCode::kFormat);
  // Complete and in order, but a level-1 corner block touches level-3 ones: not 2:1 balanced.
  std::vector<Leaf> jump;
  std::function<void(const Leaf&)> descend = [&](const Leaf& node) {
    bool inner = node.level == 0;
    if (node.level == 1 || node.level == 2) {
      // This is the corner of the first child that lies at the domain's centre.
      int64_t last = (int64_t{1} << (node.level - 1)) - 1;
      inner = node.index[0] == last && node.index[1] == last && (GetParam() == 2 || node.index[2] == last);
    }
    if (!inner) {
      jump.push_back(node);
      return;
    }
    for (int c = 0; c < (1 << GetParam()); ++c) {
      descend({node.level + 1,
               {2 * node.index[0] + (c & 1), 2 * node.index[1] + (c >> 1 & 1),
                GetParam() == 3 ? 2 * node.index[2] + (c >> 2) : 0}});
    }
  };
  descend({0, {}});
  EXPECT_EQ(code(jump), ErrorCode::kFormat);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, MeshTest, testing::Values(2, 3));

TEST(MeshOptionsTest, BadOnesAreRefused) {
  auto code = [](auto&& change) {
    MeshOptions options = options_for(2, Boundary::kOutflow, one_variable());
    change(options);
    return Mesh::create(MPI_COMM_WORLD, options).status().code();
  };
  EXPECT_EQ(code([](MeshOptions& o) { o.nxb = 9; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.nxb = 6; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.domain.dim = 1; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.max_level = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.max_level = 99; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.domain.root_count[1] = 0; }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace stria::flash
