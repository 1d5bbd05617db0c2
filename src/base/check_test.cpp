#include "base/check.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/buffer.hpp"
#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria {
namespace {

enum class Kind { kFirst, kSecond };

TEST(Check, PassesWithoutEvaluatingItsValues) {
  int evaluated = 0;
  STRIA_CHECK(evaluated == 0, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, NamesPlaceConditionAndValues) {
  const int64_t begin = 3;
  const int64_t end = -1;
  EXPECT_DEATH(
      STRIA_CHECK(begin < end, begin, end, Kind::kSecond),
      "^[^ ]*src/base/check_test.cpp:[0-9]+: STRIA_CHECK\\(begin < end\\) failed: begin, end, Kind::kSecond = 3, -1, 1\n$");
  EXPECT_DEATH(STRIA_CHECK(begin < end), "STRIA_CHECK\\(begin < end\\) failed\n$");
  EXPECT_DEATH(STRIA_CHECK(begin < end, Status(ErrorCode::kIo, "the disk"), std::string("a.h5")), " = the disk, a.h5\n$");
}

TEST(Check, NamesTheRankOfTheThreadOrElseOfTheProcess) {
  const auto fail = [](int process, int thread) {
    check::note_rank_of_process(process);
    check::note_rank_of_thread(thread);
    STRIA_CHECK(process < 0);
  };
  EXPECT_DEATH(fail(7, -1), ": rank 7: STRIA_CHECK");
  EXPECT_DEATH(fail(7, 2), ": rank 2: STRIA_CHECK");
}

TEST(Check, IsThereInEveryBuild) {
  EXPECT_DEATH(Buffer(-1), "bytes = -1");
}

TEST(Check, AssertionsAreThereInCheckedBuilds) {
  int evaluated = 0;
  STRIA_ASSERT(++evaluated > 0);
#if defined(NDEBUG) && !defined(STRIA_CHECKED)
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(align_down(5, 0), "value, unit = 5, 0");
#endif
}

}  // namespace
}  // namespace stria
