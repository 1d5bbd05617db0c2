#include "workload/unk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace stria::flash {
namespace {

const WorkloadParameters kTwoBlocks{.nxb = 3, .nvar = 5, .blocks_per_rank = 2, .guard_cells = 2, .max_blocks = 3};
const BlockPartition kPartition{.local = 2, .first = 7, .total = 11};

Unk make_unk() {
  auto unk = Unk::create(kTwoBlocks, kPartition);
  EXPECT_TRUE(unk.ok());
  return std::move(*unk);
}

TEST(Unk, HoldsTheExpectedValueOfEveryCell) {
  const Unk unk = make_unk();
  for (int64_t block = 0; block < 2; ++block) {
    for (int64_t k = -2; k < 5; ++k) {
      for (int64_t j = -2; j < 5; ++j) {
        for (int64_t i = -2; i < 5; ++i) {
          for (int64_t variable = 0; variable < 5; ++variable) {
            const double* cell = unk.interior(block) + i * unk.stride_i() + j * unk.stride_j() + k * unk.stride_k();
            ASSERT_EQ(cell[variable], expected_value(kTwoBlocks, {7 + block, variable, i, j, k}));
          }
        }
      }
    }
  }
  EXPECT_EQ(unk.check_interior(), "");
}

TEST(Unk, LaysVariablesOutFastest) {
  const Unk unk = make_unk();
  EXPECT_EQ(unk.stride_i(), 5);
  EXPECT_EQ(unk.stride_j(), 5 * 7);
  EXPECT_EQ(unk.stride_k(), 5 * 7 * 7);
  EXPECT_EQ(unk.stride_block(), 5 * 7 * 7 * 7);
  EXPECT_EQ(unk.size_bytes(), 3 * unk.stride_block() * 8);
  EXPECT_EQ(unk.interior(1) - unk.data(), unk.stride_block() + 2 * (5 + 5 * 7 + 5 * 7 * 7));
}

TEST(Unk, MarksUnusedBlocks) {
  const Unk unk = make_unk();
  EXPECT_TRUE(std::isnan(unk.data()[2 * unk.stride_block()]));
  EXPECT_TRUE(std::isnan(unk.data()[3 * unk.stride_block() - 1]));
}

TEST(Unk, FindsAWrongCell) {
  Unk unk = make_unk();
  double* cell = unk.interior(1) + 2 * unk.stride_k() + 1 * unk.stride_j() + 0 * unk.stride_i() + 4;
  *cell = expected_value(kTwoBlocks, {3, 4, 0, 1, 2});
  const std::string wrong = unk.check_interior();
  EXPECT_NE(wrong.find("expected"), std::string::npos);
  EXPECT_NE(wrong.find("block 8, variable 4, cell i=0 j=1 k=2"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("block 3, variable 4, cell i=0 j=1 k=2"), std::string::npos) << wrong;
}

TEST(Unk, FindsAnOverwrittenGuardCell) {
  Unk unk = make_unk();
  unk.poison();
  EXPECT_EQ(unk.check_guard_cells_untouched(), "");
  EXPECT_NE(unk.check_interior(), "");
  *unk.interior(0) = 1.0;
  EXPECT_EQ(unk.check_guard_cells_untouched(), "");
  *(unk.interior(0) - unk.stride_i()) = 1.0;
  EXPECT_NE(unk.check_guard_cells_untouched().find("i=-1 j=0 k=0 of block 7, variable 0"), std::string::npos);
}

TEST(Unk, TakesValuesOfAFile) {
  Unk unk = make_unk();
  const WorkloadParameters& p = unk.parameters();
  const std::string path = testing::TempDir() + "unk_values.raw";
  const int64_t slices = 5;
  {
    std::ofstream file(path, std::ios::binary);
    for (int64_t i = 0; i < slices * p.cells_per_block(); ++i) {
      const auto value = static_cast<double>(i);
      file.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  ASSERT_TRUE(unk.take_values(path).ok());
  const int64_t block = 1, variable = p.nvar - 1, k = p.nxb - 1;
  const int64_t slice = (variable * kPartition.total + kPartition.first + block) % slices;
  const double expected = static_cast<double>(slice * p.cells_per_block() + k * p.nxb * p.nxb);
  EXPECT_EQ(unk.interior(block)[k * unk.stride_k() + variable], expected);
  EXPECT_LT(*(unk.interior(0) - unk.stride_i()), 0) << "guard cells stay";
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(unk.take_values(path).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(unk.take_values(path + ".none").code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove(path);
}

TEST(Unk, RefusesParametersThatCannotBe) {
  for (const WorkloadParameters& bad :
       {WorkloadParameters{.nxb = 0}, WorkloadParameters{.nvar = 0}, WorkloadParameters{.blocks_per_rank = -1},
        WorkloadParameters{.guard_cells = -1}, WorkloadParameters{.blocks_per_rank = 5, .max_blocks = 4},
        WorkloadParameters{.nxb = 1024, .nvar = 1000, .blocks_per_rank = int64_t{1} << 30}}) {
    auto unk = Unk::create(bad, kPartition);
    ASSERT_FALSE(unk.ok());
    EXPECT_EQ(unk.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_FALSE(unk.status().message().empty());
  }
}

}  // namespace
}  // namespace stria::flash
