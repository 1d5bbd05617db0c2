// Tests what is kept of chunks against a copy of each dataset's bytes.
#include "file/chunks/packed_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stria::file {
namespace {

// Several extents long, with chunks longer than the first of them.
TEST(PackedChunks, PiecesAreTheChunksOneBehindTheOther) {
  std::mt19937_64 random(11);
  PackedFile packed;
  packed.datasets.resize(3);
  std::vector<std::vector<std::byte>> expected(3);
  for (int64_t number = 0; number < 300; ++number) {
    const size_t dataset = random() % 3;
    std::vector<std::byte> bytes(number % 50 == 7 ? 700'000 : random() % 40'000);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    packed.datasets[dataset].add({.place = {.number = number}}, packed.memory.keep(bytes));
    EXPECT_EQ(packed.datasets[dataset].chunks().back().place.offset, static_cast<int64_t>(expected[dataset].size()));
    expected[dataset].insert(expected[dataset].end(), bytes.begin(), bytes.end());
  }
  for (size_t dataset = 0; dataset < 3; ++dataset) {
    std::vector<std::byte> found;
    for (const ChunkPiece& piece : packed.datasets[dataset].pieces()) {
      found.insert(found.end(), piece.memory, piece.memory + piece.bytes);
    }
    EXPECT_EQ(packed.datasets[dataset].size(), static_cast<int64_t>(found.size()));
    EXPECT_TRUE(found == expected[dataset]) << "dataset " << dataset;
  }
}

TEST(PackedChunks, NeighboursInMemoryAreOnePiece) {
  PackedFile packed;
  packed.datasets.resize(1);
  const std::vector<std::byte> bytes(1000, std::byte{5});
  for (int64_t number = 0; number < 20; ++number) {
    packed.datasets[0].add({.place = {.number = number}}, packed.memory.keep(bytes));
  }
  EXPECT_EQ(packed.datasets[0].pieces().size(), 1u);
}

TEST(PackedChunks, RawChunksOfAPutThatFollowEachOtherAreOnePiece) {
  PackedChunks packed;
  std::vector<std::byte> bytes(30);
  packed.add({.place = {.number = 0, .bytes = 30}}, bytes);
  for (int64_t number = 1; number < 5; ++number) {
    packed.add_raw({.place = {.number = number, .bytes = 100}}, number < 4 ? 7 : 8, number * 100);
  }
  ASSERT_EQ(packed.pieces().size(), 3u);
  EXPECT_EQ(packed.pieces()[1].transfer, 7);
  EXPECT_EQ(packed.pieces()[1].stream_begin, 100);
  EXPECT_EQ(packed.pieces()[1].bytes, 300);
  EXPECT_EQ(packed.pieces()[1].first_chunk, 1u);
  EXPECT_EQ(packed.chunks()[4].place.offset, 330);
  EXPECT_EQ(packed.size(), 430);
}

}  // namespace
}  // namespace stria::file
