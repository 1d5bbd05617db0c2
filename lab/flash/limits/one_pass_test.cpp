#include "limits/one_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workload/block_check.hpp"

namespace stria::flash {
namespace {

std::vector<PackKernel> kernels_here() {
  std::vector<PackKernel> kernels;
  for (const PackKernel kernel : {PackKernel::kPortable, PackKernel::kAvx2, PackKernel::kAvx512}) {
    if (kernel_available(kernel)) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

/// Block sides and variable counts around the vector widths, so that every kind of
/// remainder occurs.
template <typename Check>
void for_each_shape(Check check) {
  for (const int64_t nxb : {1, 3, 4, 7, 8, 9, 16}) {
    for (const int64_t nvar : {1, 2, 3, 5, 7, 8, 10, 15, 24}) {
      SCOPED_TRACE("nxb " + std::to_string(nxb) + " nvar " + std::to_string(nvar));
      auto unk = Unk::create({.nxb = nxb, .nvar = nvar, .blocks_per_rank = 4, .guard_cells = 2}, {4, 6, 20});
      ASSERT_TRUE(unk.ok());
      check(*unk);
    }
  }
}

TEST(OnePass, PacksEveryShapeWithEveryKernel) {
  for_each_shape([](Unk& unk) {
    const WorkloadParameters& p = unk.parameters();
    const BlockSpan span{1, 3};
    const int64_t stride = span.count * p.cells_per_block() + 5;
    for (const PackKernel kernel : kernels_here()) {
      std::vector<double> packed(static_cast<size_t>(stride * p.nvar), -7.0);
      pack_one_pass(unk, span, packed.data(), stride, kernel);
      for (int64_t variable = 0; variable < p.nvar; ++variable) {
        const double* run = packed.data() + variable * stride;
        for (int64_t block = 0; block < span.count; ++block) {
          ASSERT_EQ(check_packed_block(p, 6 + 1 + block, variable, run + block * p.cells_per_block()), "");
        }
        ASSERT_TRUE(std::all_of(run + stride - 5, run + stride, [](double gap) { return gap == -7.0; }));
      }
    }
  });
}

TEST(OnePass, UnpacksWhatItPackedAndLeavesGuardCells) {
  for_each_shape([](Unk& unk) {
    const WorkloadParameters& p = unk.parameters();
    const BlockSpan all{0, 4};
    const int64_t stride = all.count * p.cells_per_block() + 3;
    std::vector<double> packed(static_cast<size_t>(stride * p.nvar));
    pack_one_pass(unk, all, packed.data(), stride);
    for (const PackKernel kernel : kernels_here()) {
      unk.poison();
      unpack_one_pass(packed.data(), stride, all, &unk, kernel);
      ASSERT_EQ(unk.check_interior(), "");
      ASSERT_EQ(unk.check_guard_cells_untouched(), "");
    }
  });
}

TEST(OnePass, NarrowsChosenVariables) {
  for_each_shape([](Unk& unk) {
    const WorkloadParameters& p = unk.parameters();
    const std::vector<int64_t> variables = {p.nvar - 1, 0, p.nvar / 2};
    const BlockSpan span{2, 2};
    const int64_t stride = span.count * p.cells_per_block();
    std::vector<float> packed(static_cast<size_t>(3 * stride));
    pack_one_pass_to_float(unk, variables, span, packed.data(), stride);
    for (int64_t n = 0; n < 3; ++n) {
      for (int64_t block = 0; block < 2; ++block) {
        const float* values = packed.data() + n * stride + block * p.cells_per_block();
        ASSERT_EQ(check_packed_block(p, 6 + 2 + block, variables[static_cast<size_t>(n)], values), "");
      }
    }
  });
}

}  // namespace
}  // namespace stria::flash
