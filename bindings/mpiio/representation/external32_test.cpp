// Conversion to external32. The oracle is its definition in MPI 3.1, section 13.5.2,
// written out by hand.
#include "mpiio/representation/external32.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace stria::mpiio {
namespace {

std::unique_ptr<Converter> converter_for(MPI_Datatype type) {
  std::shared_ptr<const Representation> external;
  EXPECT_TRUE(find_representation("external32", external).ok());
  std::unique_ptr<Converter> made;
  EXPECT_TRUE(Converter::create(external, type, made).ok());
  return made;
}

std::vector<unsigned> numbers(const std::vector<std::byte>& bytes) {
  std::vector<unsigned> list;
  for (std::byte byte : bytes) {
    list.push_back(static_cast<unsigned>(byte));
  }
  return list;
}

TEST(External32, IsBigEndian) {
  const std::array<int32_t, 2> memory{0x01020304, -2};
  auto converter = converter_for(MPI_INT32_T);
  std::vector<std::byte> stream;
  ASSERT_TRUE(converter->to_file(memory.data(), 2, stream).ok());
  EXPECT_EQ(numbers(stream), (std::vector<unsigned>{1, 2, 3, 4, 255, 255, 255, 254}));
  std::array<int32_t, 2> back{};
  ASSERT_TRUE(converter->from_file(stream, back.data()).ok());
  EXPECT_EQ(back, memory);
}

TEST(External32, HasLongsOfFourBytes) {
  const std::array<long, 2> memory{0x01020304, -3};
  auto converter = converter_for(MPI_LONG);
  EXPECT_EQ(converter->item_bytes(), 4);
  std::vector<std::byte> stream;
  ASSERT_TRUE(converter->to_file(memory.data(), 2, stream).ok());
  EXPECT_EQ(numbers(stream), (std::vector<unsigned>{1, 2, 3, 4, 255, 255, 255, 253}));
  std::array<long, 2> back{};
  ASSERT_TRUE(converter->from_file(stream, back.data()).ok());
  EXPECT_EQ(back, memory);
}

TEST(External32, ConvertsMixedElementsAndLeavesGaps) {
  struct Item {
    char letter;
    double number;
    short small;
  };
  const std::array<int, 3> lengths{1, 1, 1};
  const std::array<MPI_Aint, 3> places{offsetof(Item, letter), offsetof(Item, number), offsetof(Item, small)};
  const std::array<MPI_Datatype, 3> types{MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype packed = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &packed);
  MPI_Type_create_resized(packed, 0, sizeof(Item), &type);
  const std::array<Item, 2> memory{Item{'a', 1.0, 258}, Item{'b', -2.0, -1}};
  auto converter = converter_for(type);
  std::vector<std::byte> stream;
  ASSERT_TRUE(converter->to_file(memory.data(), 2, stream).ok());
  EXPECT_EQ(numbers(stream),
            (std::vector<unsigned>{'a', 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 1, 2, 'b', 0xc0, 0, 0, 0, 0, 0, 0, 0, 255, 255}));
  std::array<Item, 2> back{};
  ASSERT_TRUE(converter->from_file(stream, back.data()).ok());
  EXPECT_EQ(back[1].letter, 'b');
  EXPECT_EQ(back[1].number, -2.0);
  EXPECT_EQ(back[1].small, -1);
  // The stream ends within the second item's number: only whole elements come to memory.
  stream.resize(11 + 5);
  std::array<Item, 2> part{};
  ASSERT_TRUE(converter->from_file(stream, part.data()).ok());
  EXPECT_EQ(part[1].letter, 'b');
  EXPECT_EQ(part[1].number, 0.0);
  EXPECT_EQ(converter->memory_bytes(16), 11 + 1);
  MPI_Type_free(&packed);
  MPI_Type_free(&type);
}

TEST(External32, HoldsLongDoublesAsBinary128) {
  const long double memory = 1.0L;
  auto converter = converter_for(MPI_LONG_DOUBLE);
  ASSERT_EQ(converter->item_bytes(), 16);
  std::vector<std::byte> stream;
  ASSERT_TRUE(converter->to_file(&memory, 1, stream).ok());
  EXPECT_EQ(static_cast<unsigned>(stream[0]), 0x3fu);
  EXPECT_EQ(static_cast<unsigned>(stream[1]), 0xffu);
  long double back = 0;
  ASSERT_TRUE(converter->from_file(stream, &back).ok());
  EXPECT_EQ(back, memory);
}

// Fortran's REAL*16 is binary128 in memory too, which C's long double need not be.
TEST(External32, TurnsFortransQuadsRound) {
  std::array<std::byte, 32> memory;
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<std::byte>(i);
  }
  for (const auto& [type, items] : {std::pair{MPI_REAL16, 2}, std::pair{MPI_COMPLEX32, 1}}) {
    if (type == MPI_DATATYPE_NULL) {
      continue;  // a Fortran without them
    }
    auto converter = converter_for(type);
    std::vector<std::byte> stream;
    ASSERT_TRUE(converter->to_file(memory.data(), items, stream).ok());
    ASSERT_EQ(stream.size(), memory.size());
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(stream[i], memory[15 - i]);
      EXPECT_EQ(stream[16 + i], memory[31 - i]);
    }
    std::array<std::byte, 32> back{};
    ASSERT_TRUE(converter->from_file(stream, back.data()).ok());
    EXPECT_EQ(back, memory);
  }
}

}  // namespace
}  // namespace stria::mpiio
