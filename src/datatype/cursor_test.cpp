#include "datatype/cursor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/naive_datatype.hpp"

namespace stria {
namespace {

using test::seed_of;
using test::TypeGenerator;
using test::TypePair;

/// Returns the offsets of `count` repetitions at `displacement`.
std::vector<int64_t> repeat(const test::NaiveType& type, int64_t displacement, int64_t count) {
  test::NaiveBuilder builder;
  builder.add_block(type, displacement, count);
  return builder.take().offsets;
}

/// Checks the cursor against the list: its position, its first byte, and that its piece
/// is contiguous.
void expect_at(const Cursor& cursor, const std::vector<int64_t>& offsets, int64_t position) {
  ASSERT_EQ(cursor.stream_position(), position);
  ASSERT_EQ(cursor.done(), position == static_cast<int64_t>(offsets.size()));
  if (cursor.done()) {
    return;
  }
  const ByteRange piece = cursor.piece();
  ASSERT_FALSE(piece.empty());
  for (int64_t i = 0; i < piece.size(); ++i) {
    ASSERT_EQ(offsets.at(static_cast<size_t>(position + i)), piece.begin + i);
  }
  const PieceRow row = cursor.row();
  ASSERT_GT(row.count, 0);
  for (int64_t i = 0; i < row.count * row.piece_bytes; ++i) {
    ASSERT_EQ(offsets.at(static_cast<size_t>(position + i)),
              row.begin + i / row.piece_bytes * row.stride + i % row.piece_bytes);
  }
}

/// Checks the rows that follow each other from here against the list.
void expect_rows(const Cursor& cursor, const std::vector<int64_t>& offsets) {
  const PieceRow row = cursor.row();
  const int64_t row_bytes = row.count * row.piece_bytes;
  for (int64_t r = 1; r < cursor.row_count(); ++r) {
    for (int64_t i = 0; i < row_bytes; ++i) {
      const int64_t expected = row.begin + r * cursor.row_stride() + i / row.piece_bytes * row.stride + i % row.piece_bytes;
      ASSERT_EQ(offsets.at(static_cast<size_t>(cursor.stream_position() + r * row_bytes + i)), expected);
    }
  }
}

class CursorSeeds : public testing::TestWithParam<int> {};

TEST_P(CursorSeeds, SeeksAdvancesAndFollowsRows) {
  for (int i = GetParam() * 500; i < GetParam() * 500 + 500; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 4)));
    const int64_t displacement = generator.pick(-50, 50);
    const int64_t count = generator.pick(0, 3);
    const std::vector<int64_t> offsets = repeat(pair.naive, displacement, count);
    const auto size = static_cast<int64_t>(offsets.size());
    Cursor cursor(pair.type, displacement, count);
    ASSERT_EQ(cursor.stream_bytes(), size);
    int64_t position = 0;
    for (int step = 0; step < 60; ++step) {
      expect_at(cursor, offsets, position);
      if (HasFatalFailure()) {
        return;
      }
      const int64_t action = generator.pick(0, 9);
      if (action < 2 || cursor.done()) {
        const int64_t target = generator.pick(-3, size + 3);
        cursor.seek(target);
        position = std::clamp<int64_t>(target, 0, size);
      } else if (action == 2) {
        expect_rows(cursor, offsets);
        const int64_t rows = generator.pick(1, cursor.row_count());
        position += rows * cursor.row().count * cursor.row().piece_bytes;
        cursor.advance_rows(rows);
      } else if (action < 4) {
        const PieceRow row = cursor.row();
        const int64_t pieces = generator.pick(1, row.count);
        cursor.advance_row(pieces);
        position += pieces * row.piece_bytes;
      } else {
        const int64_t bytes = action < 6 ? cursor.piece().size() : generator.pick(0, action == 9 ? size : 10);
        cursor.advance(bytes);
        position = std::min(size, position + bytes);
      }
    }
  }
}

TEST_P(CursorSeeds, FindsOffsetsAndCuts) {
  for (int i = GetParam() * 300; i < GetParam() * 300 + 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    TypePair pair = generator.sorted(static_cast<int>(generator.pick(0, 4)));
    const int64_t displacement = generator.pick(-50, 50);
    const std::vector<int64_t> offsets = repeat(pair.naive, displacement, 1);
    Cursor cursor(pair.type, displacement);
    const int64_t low = displacement + pair.type.true_lower_bound() - 5;
    const int64_t high = displacement + pair.type.true_upper_bound() + 5;
    for (int step = 0; step < 30; ++step) {
      const int64_t begin = generator.pick(low, high);
      const int64_t end = generator.pick(low, high);
      const int64_t first = std::lower_bound(offsets.begin(), offsets.end(), begin) - offsets.begin();
      const int64_t last = std::lower_bound(offsets.begin(), offsets.end(), end) - offsets.begin();
      cursor.seek_offset(begin);
      expect_at(cursor, offsets, first);
      ASSERT_EQ(cut(pair.type, displacement, {begin, end}), (ByteRange{first, std::max(first, last)}));
    }
    constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
    ASSERT_EQ(cut(pair.type, displacement, {-kFar - 1, kFar}), (ByteRange{0, pair.type.size()}));
  }
}

TEST(Cursor, FindsOffsetsInSortedRepetitions) {
  const Datatype type = Datatype::resized(Datatype::hvector(3, 1, 10, Datatype::bytes(4)).value(), 0, 30).value();
  Cursor cursor(type, 100, 5);
  EXPECT_EQ(cursor.stream_bytes(), 60);
  cursor.seek_offset(100 + 4 * 30 + 11);
  EXPECT_EQ(cursor.stream_position(), 4 * 12 + 5);
  EXPECT_EQ(cursor.piece(), (ByteRange{231, 234}));
  cursor.seek_offset(0);
  EXPECT_EQ(cursor.stream_position(), 0);
  cursor.seek_offset(1000);
  EXPECT_TRUE(cursor.done());
}

INSTANTIATE_TEST_SUITE_P(Seeds, CursorSeeds, testing::Range(0, 6));

}  // namespace
}  // namespace stria
