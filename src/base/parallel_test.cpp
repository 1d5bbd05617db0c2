#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

namespace stria {
namespace {

TEST(ShareWork, DoesEachPieceOnce) {
  for (const int threads : {1, 2, 5}) {
    for (const size_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> done(count);
      const Status status = share_work(threads, count, [&](int thread, size_t number) {
        EXPECT_LT(thread, threads);
        ++done[number];
        return Status();
      });
      EXPECT_TRUE(status.ok());
      for (const auto& times : done) {
        EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(ShareWork, TellsOfAFailureAndEndsSoon) {
  for (const int threads : {1, 4}) {
    std::atomic<int> begun{0};
    const Status status = share_work(threads, 1000, [&](int, size_t) {
      ++begun;
      return Status(ErrorCode::kCorrupted, "no");
    });
    EXPECT_EQ(status.code(), ErrorCode::kCorrupted);
    EXPECT_LE(begun, threads);
    EXPECT_EQ(share_work(threads, 5, [](int, size_t) -> Status { throw std::bad_alloc(); }).code(),
              ErrorCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace stria
