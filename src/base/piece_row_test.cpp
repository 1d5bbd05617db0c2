// Rows against the single pieces of which they are made.
#include "base/piece_row.hpp"

#include <gtest/gtest.h>

#include <random>

namespace stria {
namespace {

std::vector<int64_t> offsets_of(const std::vector<PieceRow>& rows) {
  std::vector<int64_t> offsets;
  for (const PieceRow& row : rows) {
    for (int64_t i = 0; i < row.bytes(); ++i) {
      offsets.push_back(row.begin + i / row.piece_bytes * row.stride + i % row.piece_bytes);
    }
  }
  return offsets;
}

TEST(PieceRow, RegularPiecesAreOneRow) {
  std::vector<PieceRow> rows;
  for (int64_t i = 0; i < 1000; ++i) {
    append(rows, {5 + 24 * i, 8, 0, 1});
  }
  EXPECT_EQ(rows, (std::vector<PieceRow>{{5, 8, 24, 1000}}));
  append(rows, {5 + 24 * 1000, 8, 24, 7});
  EXPECT_EQ(rows, (std::vector<PieceRow>{{5, 8, 24, 1007}}));
  append(rows, {5 + 24 * 1007, 8, 32, 7});
  EXPECT_EQ(rows.size(), 2u) << "another stride";
}

TEST(PieceRow, NeighboursAreOnePiece) {
  std::vector<PieceRow> rows;
  for (int64_t i = 0; i < 10; ++i) {
    append(rows, {100 * i, 100, 0, 1});
  }
  EXPECT_EQ(rows, (std::vector<PieceRow>{{0, 1000, 0, 1}}));
}

// Whatever is appended, the bytes and their order stay, and no row overlaps itself.
TEST(PieceRow, AnyPiecesKeepTheirOrder) {
  std::mt19937_64 random(1);
  const auto up_to = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<PieceRow> single;
    std::vector<PieceRow> rows;
    const int64_t unit = 1 + up_to(4);
    int64_t at = up_to(100);
    for (int i = 0; i < 30; ++i) {
      PieceRow next{at, unit * (1 + up_to(2)), 0, 1};
      if (up_to(3) == 0) {
        next.count = 2 + up_to(3);
        next.stride = next.piece_bytes + unit * up_to(3);
      }
      append(rows, next);
      single.push_back(next);
      at = up_to(5) == 0 ? up_to(100) : next.end() + unit * up_to(3);
    }
    ASSERT_EQ(offsets_of(rows), offsets_of(single)) << "round " << round;
    for (const PieceRow& row : rows) {
      ASSERT_TRUE(row.count == 1 || row.stride >= row.piece_bytes) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace stria
