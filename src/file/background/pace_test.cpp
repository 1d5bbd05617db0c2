// Tests how fast a process writes in the background, by a clock that the test sets.
#include "file/background/pace.hpp"

#include <gtest/gtest.h>

namespace stria::file {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kMb = 1'000'000;

TEST(Pace, ANodesRateIsSharedByThoseThatWriteAtATime) {
  EXPECT_EQ(Pace::share(0, 4, 8), 0) << "any number";
  EXPECT_EQ(Pace::share(100 * kMb, 1, 8), 100 * kMb);
  EXPECT_EQ(Pace::share(100 * kMb, 4, 8), 25 * kMb);
  EXPECT_EQ(Pace::share(100 * kMb, 8, 2), 50 * kMb);
  EXPECT_EQ(Pace::share(3, 8, 8), 1);
}

TEST(Pace, PiecesAreATwentiethOfASecond) {
  EXPECT_EQ(Pace::piece_bytes(0, 32 << 20), 32 << 20);
  EXPECT_EQ(Pace::piece_bytes(100 * kMb, 32 << 20), 5 * kMb);
  EXPECT_EQ(Pace::piece_bytes(1000, 32 << 20), 64 << 10);
  EXPECT_EQ(Pace::piece_bytes(100'000 * kMb, 32 << 20), 32 << 20);
}

TEST(Pace, AllFilesTogetherKeepToTheRate) {
  constexpr int64_t kRate = 10 * kMb;
  const int64_t piece = Pace::piece_bytes(kRate, 32 << 20);
  Pace pace;
  int64_t written[2] = {0, 0};
  const Pace::Clock::time_point begin(seconds(1000));
  for (milliseconds now(0); now < seconds(10); ++now) {
    for (int64_t& of_file : written) {
      if (pace.may_write(begin + now)) {
        of_file += piece;
        pace.note(piece, kRate, begin + now);
      }
    }
  }
  const int64_t all = written[0] + written[1];
  EXPECT_LE(all, 10 * kRate + kRate / 10 + piece);
  EXPECT_GE(all, 10 * kRate - piece);
}

TEST(Pace, AWriteThatTookLongIsMadeUpForALittle) {
  const Pace::Clock::time_point begin(seconds(1000));
  Pace pace;
  pace.note(kMb, kMb, begin);
  EXPECT_EQ(pace.pause(begin), milliseconds(900));
  pace.note(kMb, kMb, begin + seconds(60));
  EXPECT_EQ(pace.pause(begin + seconds(60)), milliseconds(900));
  pace.note(kMb, 0, begin + seconds(60));
  EXPECT_EQ(pace.pause(begin + seconds(60)), milliseconds(900)) << "a file without a rate costs nothing";
}

}  // namespace
}  // namespace stria::file
