#include "mesh/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hydro/euler.hpp"
#include "mesh/remap.hpp"

namespace stria::flash {
namespace {

constexpr unsigned kSeed = 20011;

// Returns a block of random, physical gas, guard cells included.
std::vector<double> random_gas(const BlockShape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> positive(0.1, 10.0);
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  std::vector<double> block(static_cast<std::size_t>(shape.block_doubles()));
  for (std::size_t c = 0; c < block.size(); c += kEulerVariables) {
    double squared = 0;
    block[c + kDens] = positive(random);
    for (int d = 0; d < 3; ++d) {
      block[c + kVelx + d] = any(random);
      squared += block[c + kVelx + d] * block[c + kVelx + d];
    }
    block[c + kEner] = 0.5 * squared + 1e-3 * positive(random);
  }
  return block;
}

// Sums of density, momentum and total energy over the interior.
std::array<double, 5> conserved_sums(const BlockShape& shape, const double* block) {
  std::array<double, 5> sums{};
  for_each_cell(shape.interior(), [&](int i, int j, int k) {
    const double* cell = block + shape.offset(i, j, k);
    sums[0] += cell[kDens];
    for (int d = 0; d < 3; ++d) {
      sums[1 + d] += cell[kDens] * cell[kVelx + d];
    }
    sums[4] += cell[kDens] * cell[kEner];
  });
  return sums;
}

std::vector<Leaf> children_of(const Leaf& parent, int dim) {
  std::vector<Leaf> children;
  for (int c = 0; c < (1 << dim); ++c) {
    Leaf child{parent.level + 1, {}};
    for (int d = 0; d < dim; ++d) {
      child.index[d] = 2 * parent.index[d] + (c >> d & 1);
    }
    children.push_back(child);
  }
  return children;
}

class Transfer : public testing::TestWithParam<int> {};

TEST_P(Transfer, RefiningAndCoarseningConserveEvenWhereSlopesMustYield) {
  const int dim = GetParam();
  const VariableSet variables = euler_variables();
  const BlockShape shape = BlockShape::make(dim, 8, kEulerVariables);
  for (unsigned seed = kSeed; seed < kSeed + 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::vector<double> parent = random_gas(shape, seed);
    const std::vector<Leaf> old_leaf{{0, {}}};
    const std::vector<Leaf> new_leaves = children_of(old_leaf[0], dim);
    std::vector<double> children(new_leaves.size() * parent.size());
    ASSERT_TRUE(remap(shape, variables, {old_leaf, parent.data()}, {new_leaves, children.data()}).ok());
    std::array<double, 5> before = conserved_sums(shape, parent.data());
    std::array<double, 5> after{};
    for (std::size_t c = 0; c < new_leaves.size(); ++c) {
      const double* child = children.data() + c * parent.size();
      for (int v = 0; v < 5; ++v) {
        after[v] += conserved_sums(shape, child)[v];
      }
      for_each_cell(shape.interior(), [&](int i, int j, int k) {
        const double* cell = child + shape.offset(i, j, k);
        const double values[5] = {cell[kDens], cell[kVelx], cell[kVely], cell[kVelz], cell[kEner]};
        EXPECT_TRUE(variables.admissible(values));
      });
    }
    for (int v = 0; v < 5; ++v) {
      EXPECT_NEAR(after[v] / (1 << dim), before[v], 1e-12 * before[0]);
    }
    std::vector<double> again(parent.size());
    ASSERT_TRUE(remap(shape, variables, {new_leaves, children.data()}, {old_leaf, again.data()}).ok());
    for_each_cell(shape.interior(), [&](int i, int j, int k) {
      for (int v : {kDens, kVelx, kVely, kVelz, kEner}) {
        EXPECT_NEAR(again[shape.offset(i, j, k) + v], parent[shape.offset(i, j, k) + v], 1e-12);
      }
    });
  }
}

TEST_P(Transfer, RefiningReproducesLinearDensity) {
  const int dim = GetParam();
  const BlockShape shape = BlockShape::make(dim, 8, 1);
  VariableSet variables;
  variables.names = {"dens"};
  variables.transferred = {{0, false, -1}};
  Domain domain;
  domain.dim = dim;
  auto field = [&](const Leaf& leaf, int i, int j, int k) {
    double z = dim == 3 ? cell_center(domain, leaf, 2, k, 8) : 0;
    return 1 + 2 * cell_center(domain, leaf, 0, i, 8) - 3 * cell_center(domain, leaf, 1, j, 8) + 0.5 * z;
  };
  const std::vector<Leaf> old_leaf{{0, {}}};
  std::vector<double> parent(static_cast<std::size_t>(shape.block_doubles()));
  CellBox all = shape.interior();
  for (int d = 0; d < dim; ++d) {
    all.lo[d] -= 1;
    all.hi[d] += 1;
  }
  for_each_cell(all, [&](int i, int j, int k) { parent[shape.offset(i, j, k)] = field(old_leaf[0], i, j, k); });
  const std::vector<Leaf> new_leaves = children_of(old_leaf[0], dim);
  std::vector<double> children(new_leaves.size() * parent.size());
  ASSERT_TRUE(remap(shape, variables, {old_leaf, parent.data()}, {new_leaves, children.data()}).ok());
  for (std::size_t c = 0; c < new_leaves.size(); ++c) {
    for_each_cell(shape.interior(), [&](int i, int j, int k) {
      EXPECT_NEAR(children[c * parent.size() + shape.offset(i, j, k)], field(new_leaves[c], i, j, k), 1e-13);
    });
  }
}

TEST_P(Transfer, RefusesJumpsOfTwoLevels) {
  const int dim = GetParam();
  const BlockShape shape = BlockShape::make(dim, 8, kEulerVariables);
  const std::vector<Leaf> old_leaf{{0, {}}};
  std::vector<Leaf> new_leaves = children_of(old_leaf[0], dim);
  std::vector<Leaf> deeper = children_of(new_leaves[0], dim);
  deeper.insert(deeper.end(), new_leaves.begin() + 1, new_leaves.end());
  std::vector<double> parent = random_gas(shape, kSeed);
  std::vector<double> blocks(deeper.size() * parent.size());
  EXPECT_EQ(remap(shape, euler_variables(), {old_leaf, parent.data()}, {deeper, blocks.data()}).code(), ErrorCode::kInternal);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Transfer, testing::Values(2, 3));

}  // namespace
}  // namespace stria::flash
