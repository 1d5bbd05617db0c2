// Regions and layouts against loops over bytes.
#include "wire/region.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/naive_datatype.hpp"

namespace stria::wire {
namespace {

/// Returns the slot's part of a range, by the definition.
ByteRange naive_own(const Layout& layout, int64_t slot, ByteRange range) {
  int64_t before = 0;
  int64_t within = 0;
  for (int64_t offset = 0; offset < range.end; ++offset) {
    if (offset / layout.stripe_bytes % layout.slot_count == slot) {
      (offset < range.begin ? before : within) += 1;
    }
  }
  return {before, before + within};
}

TEST(Layout, AgreesWithALoopOverBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const Layout layout{1 + static_cast<int64_t>(random() % 9), 1 + static_cast<int64_t>(random() % 5)};
    const auto slot = static_cast<int64_t>(random() % static_cast<uint64_t>(layout.slot_count));
    const auto begin = static_cast<int64_t>(random() % 200);
    const ByteRange range{begin, begin + static_cast<int64_t>(random() % 100)};
    const ByteRange own = layout.own(slot, range);
    EXPECT_EQ(own, naive_own(layout, slot, range));
    for (int64_t local = own.begin; local < own.end; ++local) {
      const int64_t place = layout.place_of(slot, local);
      EXPECT_TRUE(range.contains(place));
      EXPECT_EQ(layout.below(slot, place), local);
      EXPECT_EQ(layout.slot_of(place), slot);
      EXPECT_EQ(layout.file_bytes(slot, local + 1), place + 1);
    }
  }
}

TEST(Layout, NumbersFromOutsideDoNotOverflow) {
  constexpr int64_t kLargest = (int64_t{1} << 62) - 1;  // the largest offset
  for (const int64_t stripe : {kMinStripeBytes, int64_t{4096} * 3, kMaxStripeBytes}) {
    for (const int64_t slots : {int64_t{1}, int64_t{3}, int64_t{kMaxSlots}}) {
      const Layout layout{stripe, slots};
      EXPECT_GT(layout.file_bytes(slots - 1, kLargest), int64_t{1} << 61);
      EXPECT_EQ(layout.file_bytes(0, stripe), stripe);
    }
  }
}

/// Returns the place on the slot of each byte of the pieces that the slot has, in their order.
std::vector<int64_t> naive_walk(const std::vector<ByteRange>& pieces, const Layout& layout, int64_t slot) {
  std::vector<int64_t> places;
  for (const ByteRange& piece : pieces) {
    for (int64_t offset = piece.begin; offset < piece.end; ++offset) {
      if (layout.slot_of(offset) == slot) {
        places.push_back(layout.below(slot, offset));
      }
    }
  }
  return places;
}

std::vector<int64_t> walk(std::span<const std::byte> body, const Layout& layout, int64_t slot) {
  Reader reader(body);
  const auto region = Region::decode(reader);
  EXPECT_TRUE(region.ok()) << region.status().message();
  std::vector<int64_t> places;
  SlotWalk slots(*region, layout, slot);
  while (!slots.done()) {
    int64_t looks = 3;  // so few that the call must be repeated
    const PieceRow row = slots.next(&looks);
    EXPECT_TRUE(row.count <= 1 || row.stride >= row.piece_bytes) << "pieces of a row overlap";
    for (int64_t i = 0; i < row.bytes(); ++i) {
      places.push_back(row.begin + i / row.piece_bytes * row.stride + i % row.piece_bytes);
    }
  }
  return places;
}

void check_walks(const std::vector<std::byte>& body, const std::vector<ByteRange>& pieces, std::mt19937_64& random) {
  const Layout layout{1 + static_cast<int64_t>(random() % 40), 1 + static_cast<int64_t>(random() % 5)};
  for (int64_t slot = 0; slot < layout.slot_count; ++slot) {
    ASSERT_EQ(walk(body, layout, slot), naive_walk(pieces, layout, slot));
  }
}

TEST(Region, ListsMatchTheLoop) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<ByteRange> ranges;
    for (size_t i = random() % 10; i > 0; --i) {
      const auto begin = static_cast<int64_t>(random() % 500);
      ranges.push_back({begin, begin + static_cast<int64_t>(random() % 60)});
    }
    std::vector<std::byte> body;
    Writer writer(body);
    if (ranges.size() == 1) {
      encode_range(writer, ranges[0]);
    } else {
      encode_list(writer, ranges);
    }
    check_walks(body, ranges, random);
  }
}

TEST(Region, DatatypesMatchTheLoop) {
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test::seed_of(i)));
    std::mt19937_64 random(test::seed_of(i));
    test::TypeGenerator generator(test::seed_of(i));
    const Datatype type = generator.any(3).type;
    if (type.size() == 0 || type.size() > 4000) {
      continue;
    }
    const int64_t displacement = static_cast<int64_t>(random() % 50) - type.true_lower_bound();
    const auto begin = static_cast<int64_t>(random() % static_cast<uint64_t>(type.size()));
    const ByteRange window{begin, begin + static_cast<int64_t>(random() % static_cast<uint64_t>(type.size() - begin + 1))};
    std::vector<ByteRange> pieces;
    Cursor cursor(type, displacement);
    for (cursor.seek(window.begin); cursor.stream_position() < window.end; cursor.advance(1)) {
      pieces.push_back({cursor.piece().begin, cursor.piece().begin + 1});
    }
    std::vector<std::byte> body;
    Writer writer(body);
    encode_type(writer, type, displacement, window);
    check_walks(body, pieces, random);
  }
}

TEST(Region, WhatLiesOutsideOfEveryFileIsRefused) {
  const auto refused = [](auto encode) {
    std::vector<std::byte> body;
    Writer writer(body);
    encode(writer);
    Reader reader(body);
    return !Region::decode(reader).ok();
  };
  const int64_t far = (int64_t{1} << 62) - 1;
  EXPECT_TRUE(refused([&](Writer& writer) { encode_range(writer, {far, far + 2}); }));
  EXPECT_TRUE(refused([&](Writer& writer) { encode_list(writer, std::vector<ByteRange>{{-1, 5}}); }));
  EXPECT_TRUE(refused([&](Writer& writer) { encode_type(writer, Datatype::bytes(10), -1, {0, 10}); }));
  EXPECT_TRUE(refused([&](Writer& writer) { encode_type(writer, Datatype::bytes(10), far - 5, {0, 10}); }));
  EXPECT_TRUE(refused([&](Writer& writer) { encode_type(writer, Datatype::bytes(10), 0, {5, 11}); }));
  EXPECT_FALSE(refused([&](Writer& writer) { encode_type(writer, Datatype::bytes(10), 0, {5, 10}); }));
}

}  // namespace
}  // namespace stria::wire
