#include "file/move/element_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "datatype/cursor.hpp"

namespace stria::file {
namespace {

std::vector<int64_t> bytes_of(const Datatype& type) {
  std::vector<int64_t> offsets;
  for (Cursor cursor(type, 0); !cursor.done(); cursor.advance(1)) {
    offsets.push_back(cursor.piece().begin);
  }
  return offsets;
}

TEST(ElementMap, PairsEveryPlaceWithItsValue) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    // Small numbers touch often; large ones have several digits.
    const int64_t largest = i % 3 == 0 ? 40 : i % 3 == 1 ? 5000 : int64_t{1} << (i % 58);
    std::vector<int64_t> offsets;
    for (int64_t n = 0; n < std::min<int64_t>(largest, 30); ++n) {
      offsets.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(largest)));
    }
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    std::shuffle(offsets.begin(), offsets.end(), random);
    for (int none = 0; none < i % 4; ++none) {
      offsets.insert(offsets.begin() + static_cast<int64_t>(random() % (offsets.size() + 1)), -1);
    }
    const auto map = ElementMap::create(offsets);
    ASSERT_TRUE(map.ok()) << map.status().message();
    EXPECT_EQ((*map)->count(), static_cast<int64_t>(offsets.size()));
    for (const int64_t width : {1, 2, 4, 8}) {
      const Datatype region = (*map)->region(width).value(), memory = (*map)->memory(width).value();
      ASSERT_TRUE(region.is_sorted());
      const auto places = bytes_of(region), positions = bytes_of(memory);
      ASSERT_EQ(places.size(), positions.size());
      for (size_t byte = 0; byte < places.size(); ++byte) {
        EXPECT_EQ(offsets[static_cast<size_t>(positions[byte] / width)], places[byte] / width) << "case " << i;
        EXPECT_EQ(positions[byte] % width, places[byte] % width);
      }
      const auto meant = std::count_if(offsets.begin(), offsets.end(), [](int64_t offset) { return offset >= 0; });
      EXPECT_EQ(static_cast<int64_t>(places.size()), meant * width);
    }
  }
}

TEST(ElementMap, NeighboursAreOneRun) {
  const auto map = ElementMap::create(std::vector<int64_t>{7, 8, 9, 3, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ((*map)->region(8)->piece_count(), 2);
  EXPECT_EQ((*map)->memory(8)->piece_count(), 2);
  EXPECT_EQ((*map)->end(), 10);
  EXPECT_TRUE((*ElementMap::create(std::vector<int64_t>{2, 5, 11}))->memory(4)->is_contiguous());
}

TEST(ElementMap, WhatIsNoMapIsRefused) {
  const auto refusal = [](const std::vector<int64_t>& offsets) { return ElementMap::create(offsets).status(); };
  EXPECT_EQ(refusal({4, 1, 9, 1}).code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(refusal({4, 1, 9, 1}).message().find("element 1 comes twice in the map: at positions 1 and 3"), std::string::npos);
  EXPECT_NE(refusal({4, -2}).message().find("has -2 at position 1"), std::string::npos);
  EXPECT_TRUE(refusal({-1, -1, -1}).ok());
  EXPECT_TRUE(refusal({}).ok());
}

}  // namespace
}  // namespace stria::file
