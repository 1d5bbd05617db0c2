// Regions of pieces that data sieving joins.
#include "access/request/region.hpp"

#include <gtest/gtest.h>

namespace stria::access {
namespace {

// 64 planes of 64 rows of 256 bytes, as one of eight ranks has of a cube. A window holds
// eight planes. What doesn't fit into one window belongs to the next; nothing falls back to
// single pieces.
TEST(RegionWalker, WhatAWindowHasNoRoomForBeginsTheNext) {
  constexpr int64_t kRow = 256;
  constexpr int64_t kWindow = 512 << 10;
  const Datatype plane = Datatype::hvector(64, 1, 2 * kRow, Datatype::bytes(kRow)).value();
  Stream stream;
  stream.file_type = Datatype::hvector(64, 1, 64 << 10, plane).value();
  RegionWalker walker(stream, 0, stream.size(), {JoinRule::Kind::kAlways}, {int64_t{64} << 20, kWindow});
  std::vector<Region> regions;
  int64_t at = 0;
  int batches = 0;
  for (; walker.next(regions); ++batches) {
    int64_t window_bytes = 0;
    for (const Region& region : regions) {
      EXPECT_EQ(region.begin, at);
      EXPECT_GE(region.pieces, 64);
      at = region.end;
      window_bytes += region.file.size();
    }
    EXPECT_LE(window_bytes, kWindow);
  }
  EXPECT_EQ(at, stream.size());
  EXPECT_LE(batches, 9);
}

}  // namespace
}  // namespace stria::access
