// Tests what is read or walked of a window: what a rank asked for, without long gaps.
#include "access/together/domains/wanted_stretches.hpp"

#include <gtest/gtest.h>

#include <array>

namespace stria::access {
namespace {

constexpr size_t kWindow = 1;

Share share_of(const Stream& stream, size_t window = kWindow) {
  Share share;
  share.parts.emplace_back(window, Overlap{&stream, 0, stream.size()});
  return share;
}

Stream pieces(int64_t begin, int64_t count, int64_t piece_bytes, int64_t stride) {
  return {0, Datatype::hvector(count, 1, stride, Datatype::bytes(piece_bytes)).value(), begin};
}

std::vector<std::pair<int64_t, int64_t>> stretches(std::span<const Share> shares, int64_t most_gap_bytes) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const ByteRange range : stretches_of(kWindow, shares, most_gap_bytes)) {
    pairs.emplace_back(range.begin, range.end);
  }
  return pairs;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST(WantedStretches, LeaveOutLongGapsBetweenContributors) {
  const Stream far = pieces(8 << 20, 1, 288, 288);
  const Stream near = pieces(0, 1, 288, 288);
  const Stream next = pieces(1000, 2, 100, 200);
  const Stream elsewhere = pieces(4 << 20, 1, 10, 10);
  const Share shares[] = {share_of(far), share_of(near), share_of(next), share_of(elsewhere, 0)};
  EXPECT_EQ(stretches(shares, 4096), (Pairs{{0, 1300}, {8 << 20, (8 << 20) + 288}}));
  EXPECT_EQ(stretches(shares, 500), (Pairs{{0, 288}, {1000, 1300}, {8 << 20, (8 << 20) + 288}}));
  EXPECT_EQ(stretches({}, 500), Pairs());
}

TEST(WantedStretches, LeaveOutLongGapsBetweenPieces) {
  const Stream sparse = pieces(0, 3, 10, 100'000);
  const Stream dense = pieces(0, 100, 1000, 6000);
  EXPECT_EQ(stretches(std::array{share_of(sparse)}, 4096), (Pairs{{0, 10}, {100'000, 100'010}, {200'000, 200'010}}));
  EXPECT_EQ(stretches(std::array{share_of(dense)}, 4096), (Pairs{{0, 99 * 6000 + 1000}})) << "not worth a walk";
}

// Parts of a stream count, not the whole.
TEST(WantedStretches, AreThoseOfTheOverlap) {
  const Stream stream = pieces(0, 4, 10, 100'000);
  Share share;
  share.parts.emplace_back(kWindow, Overlap{&stream, 15, 25});
  EXPECT_EQ(stretches(std::array{share}, 4096), (Pairs{{100'005, 100'010}, {200'000, 200'005}}));
}

}  // namespace
}  // namespace stria::access
