#include "workload/cell_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

namespace stria::flash {
namespace {

WorkloadParameters small() {
  return {.nxb = 3, .nvar = 5, .blocks_per_rank = 4, .guard_cells = 2};
}

template <typename Visit>
void for_each_place(const WorkloadParameters& p, int64_t blocks, Visit visit) {
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t variable = 0; variable < p.nvar; ++variable) {
      for (int64_t k = -p.guard_cells; k < p.nxb + p.guard_cells; ++k) {
        for (int64_t j = -p.guard_cells; j < p.nxb + p.guard_cells; ++j) {
          for (int64_t i = -p.guard_cells; i < p.nxb + p.guard_cells; ++i) {
            visit(CellPlace{block, variable, i, j, k});
          }
        }
      }
    }
  }
}

TEST(CellValue, DiffersInEveryCellAndDecodesToIt) {
  const WorkloadParameters p = small();
  std::set<double> seen;
  for_each_place(p, 4, [&](const CellPlace& place) {
    const double value = expected_value(p, place);
    EXPECT_TRUE(seen.insert(value).second) << value;
    CellPlace decoded;
    ASSERT_TRUE(decode_value(p, value, &decoded));
    EXPECT_EQ(decoded, place);
  });
}

TEST(CellValue, ShowsGuardCellsBySign) {
  const WorkloadParameters p = small();
  for_each_place(p, 1, [&](const CellPlace& place) {
    const bool interior = std::min({place.i, place.j, place.k}) >= 0 && std::max({place.i, place.j, place.k}) < p.nxb;
    const double value = expected_value(p, place);
    EXPECT_EQ(value > 0, interior);
    EXPECT_GE(std::abs(value), 1.0);
    EXPECT_LT(std::abs(value), 2.0);
  });
}

TEST(CellValue, StaysDistinctAsFloat) {
  const WorkloadParameters p{.nxb = 8, .nvar = 24};
  std::set<float> seen;
  int64_t cells = 0;
  for (int64_t i = 0; i < 8; ++i) {
    for (int64_t variable = 0; variable < 24; ++variable) {
      for (int64_t block = 0; block < 50; ++block, ++cells) {
        seen.insert(static_cast<float>(expected_value(p, {block, variable, i, 3, 5})));
      }
    }
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), cells);
}

TEST(CellValue, RefusesValuesOfNoCell) {
  const WorkloadParameters p = small();
  CellPlace place;
  EXPECT_FALSE(decode_value(p, 0.0, &place));
  EXPECT_FALSE(decode_value(p, 2.5, &place));
  EXPECT_FALSE(decode_value(p, -expected_value(p, {0, 0, 0, 0, 0}), &place));
  const double right = expected_value(p, {1, 2, 0, 1, 2});
  EXPECT_FALSE(decode_value(p, std::bit_cast<double>(std::bit_cast<uint64_t>(right) ^ 1), &place));
  EXPECT_NE(describe_value(p, right).find("block 1, variable 2, cell i=0 j=1 k=2"), std::string::npos);
  EXPECT_NE(describe_value(p, 7.0).find("no cell"), std::string::npos);
}

}  // namespace
}  // namespace stria::flash
