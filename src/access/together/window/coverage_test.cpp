#include "access/together/window/coverage.hpp"

#include <gtest/gtest.h>

#include <random>

namespace stria::access {
namespace {

void expect_same_stretches(const Coverage& coverage, const std::vector<bool>& naive, int64_t begin) {
  Coverage::Stretches expected;
  for (size_t i = 0; i < naive.size(); ++i) {
    if (naive[i]) {
      const int64_t at = begin + static_cast<int64_t>(i);
      expected.hull = {expected.bytes == 0 ? at : expected.hull.begin, at + 1};
      expected.count += i == 0 || !naive[i - 1] ? 1 : 0;
      ++expected.bytes;
    }
  }
  const Coverage::Stretches found = coverage.stretches();
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.bytes, expected.bytes);
  EXPECT_EQ(found.hull, expected.hull);
}

// Gaps are filled from the old bytes, covered bytes stay, and nothing outside the range is touched.
void expect_gaps_filled(const Coverage& coverage, const std::vector<bool>& naive, int64_t begin, std::mt19937_64& random) {
  const size_t size = naive.size();
  const size_t from = random() % (size / 64 + 1) * 64;
  const size_t to = from + random() % (size - from + 1);
  const std::vector<std::byte> old(size, std::byte{1});
  std::vector<std::byte> filled(size, std::byte{2});
  coverage.fill_gaps({begin + static_cast<int64_t>(from), begin + static_cast<int64_t>(to)}, old.data() + from,
                     filled.data() + from);
  for (size_t i = 0; i < size; ++i) {
    ASSERT_EQ(filled[i], std::byte(i >= from && i < to && !naive[i] ? 1 : 2)) << i << " of " << size;
  }
}

TEST(Coverage, TakesRows) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
    const int64_t begin = below(1000);
    const int64_t size = 1 + below(2000);
    Coverage coverage({begin, begin + size});
    std::vector<bool> naive(static_cast<size_t>(size), false);
    for (int64_t i = below(4); i >= 0; --i) {
      PieceRow row;
      row.piece_bytes = std::min<int64_t>(size, 1 + below(i % 2 == 0 ? 16 : 200));
      row.stride = row.piece_bytes + below(64);
      row.begin = begin + below(size - row.piece_bytes + 1);
      row.count = 1 + below((begin + size - row.begin - row.piece_bytes) / row.stride + 1);
      coverage.add_row(row);
      for (int64_t k = 0; k < row.count; ++k) {
        const auto first = naive.begin() + (row.begin - begin + k * row.stride);
        std::fill(first, first + row.piece_bytes, true);
      }
    }
    expect_same_stretches(coverage, naive, begin);
    ASSERT_NO_FATAL_FAILURE(expect_gaps_filled(coverage, naive, begin, random));
  }
}

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
