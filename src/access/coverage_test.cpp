#include "access/coverage.hpp"

#include <gtest/gtest.h>

#include <random>

namespace stria::access {
namespace {

TEST(Coverage, EqualsAVectorOfFlags) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int64_t begin = static_cast<int64_t>(random() % 1000);
    const int64_t size = static_cast<int64_t>(random() % 700);
    Coverage coverage({begin, begin + size});
    std::vector<bool> naive(static_cast<size_t>(size), false);
    for (uint64_t i = 0; i < random() % 12; ++i) {
      const int64_t from = static_cast<int64_t>(random() % static_cast<uint64_t>(size + 1));
      const int64_t to = std::min<int64_t>(size, from + static_cast<int64_t>(random() % (i % 3 == 0 ? 300 : 9)));
      coverage.add({begin + from, begin + to});
      std::fill(naive.begin() + from, naive.begin() + to, true);
    }
    std::vector<bool> seen(naive.size(), false);
    int64_t last_end = begin - 1;
    coverage.for_each_run([&](ByteRange run) {
      EXPECT_GT(run.begin, last_end) << "runs that touch are one";
      EXPECT_LT(run.begin, run.end);
      last_end = run.end;
      std::fill(seen.begin() + (run.begin - begin), seen.begin() + (run.end - begin), true);
    });
    ASSERT_EQ(seen, naive);
  }
}

}  // namespace
}  // namespace stria::access
