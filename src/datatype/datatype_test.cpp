#include "stria/datatype.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "datatype/cursor.hpp"
#include "datatype/node.hpp"
#include "support/naive_datatype.hpp"

namespace stria {
namespace {

using test::NaiveType;
using test::seed_of;
using test::TypeGenerator;
using test::TypePair;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

/// Returns the offset of every byte that a cursor passes.
std::vector<int64_t> walk(const Datatype& type) {
  std::vector<int64_t> offsets;
  for (Cursor cursor(type); !cursor.done(); cursor.advance(cursor.piece().size())) {
    for (int64_t offset = cursor.piece().begin; offset < cursor.piece().end; ++offset) {
      offsets.push_back(offset);
    }
  }
  return offsets;
}

void expect_same(const Datatype& type, const NaiveType& naive) {
  ASSERT_EQ(walk(type), naive.offsets);
  EXPECT_EQ(type.size(), static_cast<int64_t>(naive.offsets.size()));
  EXPECT_EQ(type.lower_bound(), naive.lower);
  EXPECT_EQ(type.upper_bound(), naive.upper);
  EXPECT_EQ(type.extent(), naive.extent());
  if (!naive.offsets.empty()) {
    EXPECT_EQ(type.true_lower_bound(), *std::min_element(naive.offsets.begin(), naive.offsets.end()));
    EXPECT_EQ(type.true_upper_bound(), *std::max_element(naive.offsets.begin(), naive.offsets.end()) + 1);
  }
  int64_t pieces = 0;
  for (Cursor cursor(type); !cursor.done(); cursor.advance(cursor.piece().size())) {
    ++pieces;
  }
  EXPECT_EQ(type.piece_count(), pieces);
  const bool increases =
      std::adjacent_find(naive.offsets.begin(), naive.offsets.end(), std::greater_equal<>()) == naive.offsets.end();
  EXPECT_EQ(type.is_sorted(), increases);
}

TEST(Datatype, AgreesWithListOfBytes) {
  for (int i = 0; i < 6000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 4)));
    expect_same(pair.type, pair.naive);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(Datatype, NormalisesGaplessDescriptionsToOneRun) {
  const Datatype real = Datatype::bytes(8);
  const Datatype run = Datatype::bytes(8 * 60);
  const std::array<int64_t, 3> sizes{3, 4, 5};
  const std::array<int64_t, 3> starts{0, 0, 0};
  EXPECT_EQ(Datatype::contiguous(60, real).value(), run);
  EXPECT_EQ(Datatype::vector(15, 4, 4, real).value(), run);
  EXPECT_EQ(Datatype::subarray(sizes, sizes, starts, Order::kC, real).value(), run);
  EXPECT_EQ(Datatype::subarray(sizes, sizes, starts, Order::kFortran, real).value(), run);
  const std::array<int64_t, 3> lengths{10, 20, 30};
  const std::array<int64_t, 3> displacements{0, 10, 30};
  EXPECT_EQ(Datatype::indexed(lengths, displacements, real).value(), run);
  EXPECT_TRUE(run.is_contiguous());
  EXPECT_FALSE(Datatype::resized(run, 0, 481).value().is_contiguous());
  EXPECT_FALSE(Datatype::resized(run, -1, 480).value().is_contiguous());
}

TEST(Datatype, NormalisesEqualNestsToEqualTrees) {
  const Datatype real = Datatype::bytes(8);
  const Datatype row = Datatype::resized(Datatype::hvector(16, 1, 192, real).value(), 0, 16 * 192).value();
  const Datatype chained = Datatype::resized(Datatype::contiguous(4, row).value(), 0, 64 * 192).value();
  const Datatype flat = Datatype::resized(Datatype::hvector(64, 1, 192, real).value(), 0, 64 * 192).value();
  EXPECT_EQ(chained, flat);
  EXPECT_EQ(chained.fingerprint(), flat.fingerprint());
  const std::array<int64_t, 3> lengths{1, 1, 1};
  const std::array<int64_t, 3> regular{5, 25, 45};
  EXPECT_EQ(Datatype::hindexed(lengths, regular, real).value().node().kind, datatype::NodeKind::kStrided);
  EXPECT_FALSE(flat == Datatype::hvector(64, 1, 184, real).value());
}

TEST(Datatype, HoldsManyPiecesInFewBytes) {
  const Datatype huge = Datatype::hvector(1'000'000'000, 1, 192, Datatype::bytes(8)).value();
  EXPECT_EQ(huge.piece_count(), 1'000'000'000);
  EXPECT_EQ(huge.size(), 8'000'000'000);
  std::vector<std::byte> bytes;
  huge.serialize(bytes);
  EXPECT_LT(bytes.size(), 32u);
  Cursor cursor(huge);
  cursor.seek(7'999'999'996);
  EXPECT_EQ(cursor.piece(), (ByteRange{999'999'999 * 192ll + 4, 999'999'999 * 192ll + 8}));
  cursor.seek_offset(192 * 123'456'789ll + 8);
  EXPECT_EQ(cursor.stream_position(), 123'456'790 * 8ll);
}

TEST(Datatype, RejectsWhatOverflows) {
  const Datatype real = Datatype::bytes(8);
  EXPECT_FALSE(Datatype::contiguous(kHuge, real).ok());
  EXPECT_FALSE(Datatype::contiguous(int64_t{1} << 59, real).ok());
  EXPECT_TRUE(Datatype::contiguous((int64_t{1} << 59) - 1, real).ok());
  EXPECT_FALSE(Datatype::vector(2, 1, kHuge, real).ok());
  EXPECT_FALSE(Datatype::hvector(3, 1, int64_t{1} << 61, real).ok());
  EXPECT_FALSE(Datatype::hvector(3, 1, -(int64_t{1} << 61), real).ok());
  EXPECT_FALSE(Datatype::resized(real, kHuge, 1).ok());
  EXPECT_FALSE(Datatype::resized(real, 1, kHuge).ok());
  const std::array<int64_t, 1> one{1};
  const std::array<int64_t, 1> far{kHuge};
  EXPECT_FALSE(Datatype::indexed(one, far, real).ok());
  EXPECT_FALSE(Datatype::hindexed(one, far, real).ok());
  const std::array<int64_t, 2> sizes{int64_t{1} << 40, int64_t{1} << 40};
  const std::array<int64_t, 2> subsizes{1, 1};
  const std::array<int64_t, 2> starts{1, 1};
  EXPECT_FALSE(Datatype::subarray(sizes, subsizes, starts, Order::kC, real).ok());
}

TEST(Datatype, RejectsBadArguments) {
  const Datatype real = Datatype::bytes(8);
  const std::array<int64_t, 1> one{1};
  const std::array<int64_t, 1> two{2};
  const std::array<int64_t, 1> negative{-1};
  const std::array<int64_t, 2> pair{1, 1};
  const std::array<Datatype, 1> types{real};
  EXPECT_EQ(Datatype::contiguous(-1, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::vector(1, -1, 1, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::indexed(negative, one, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::hindexed(pair, one, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::structure(pair, pair, types).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::subarray(one, two, negative, Order::kC, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::subarray(two, one, two, Order::kC, real).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Datatype::subarray(two, pair, one, Order::kC, real).status().code(), ErrorCode::kInvalidArgument);
}

TEST(Datatype, RejectsNestsThatAreTooDeep) {
  const std::array<int64_t, 2> lengths{1, 1};
  Datatype type = Datatype::bytes(1);
  int levels = 0;
  while (true) {
    const std::array<int64_t, 2> displacements{0, type.true_upper_bound() + 1 + levels % 2};
    Result<Datatype> next = Datatype::hindexed(lengths, displacements, type);
    if (!next.ok()) {
      EXPECT_EQ(next.status().code(), ErrorCode::kInvalidArgument);
      break;
    }
    type = *next;
    ASSERT_LT(++levels, 100);
  }
  EXPECT_LE(type.depth(), datatype::kMaxDepth);
}

TEST(Datatype, SharesEqualSubtreesWithoutComparingThemAgainAndAgain) {
  // Two separate builds of a structure of structures with 2^40 leaves each. Only a comparison that
  // remembers pairs ends.
  const auto build = [] {
    Datatype type = Datatype::hvector(3, 1, 5, Datatype::bytes(2)).value();
    for (int i = 0; i < 40; ++i) {
      const Datatype other = Datatype::hvector(2, 1, type.extent() + 1, type).value();
      const std::array<int64_t, 3> lengths{1, 1, 1};
      const std::array<int64_t, 3> displacements{0, type.extent() + 3, 2 * type.extent() + 2 * other.extent()};
      const std::array<Datatype, 3> types{type, other, type};
      Result<Datatype> next = Datatype::structure(lengths, displacements, types);
      if (!next.ok()) {
        break;
      }
      type = *next;
    }
    return type;
  };
  const Datatype a = build();
  const Datatype b = build();
  EXPECT_TRUE(a == b);
  EXPECT_GT(a.depth(), 20);
  std::vector<std::byte> bytes;
  a.serialize(bytes);
  EXPECT_LT(bytes.size(), 4000u);
}

}  // namespace
}  // namespace stria
