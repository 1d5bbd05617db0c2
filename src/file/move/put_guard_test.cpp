#include "file/move/put_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "datatype/cursor.hpp"

namespace stria::file {
namespace {

constexpr PutGuard::Limits kNoCopies{.copied_bytes = 0, .samples = true};
constexpr PutGuard::Limits kUsual{.copied_bytes = 1 << 20, .samples = true};

std::vector<DatasetEntry> one_dataset() {
  std::vector<DatasetEntry> datasets(1);
  datasets[0].spec.path = "fields/dens";
  return datasets;
}

Transfer put_of(const void* data, const Datatype& type, ElementType element = ElementType::kByte) {
  Transfer put;
  put.region = Datatype::bytes(type.size());
  put.start = {0};
  put.count = {type.size()};
  put.memory = Memory(data, type, element);
  return put;
}

std::vector<std::byte> random_bytes(size_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(count);
  for (std::byte& one : bytes) {
    one = static_cast<std::byte>(random());
  }
  return bytes;
}

bool is_unchanged(const PutGuard& guard, const Transfer& put) {
  return guard.check(std::span(&put, 1), one_dataset()).ok();
}

/// Returns what the stream of a put has, one byte after another.
std::vector<std::byte> stream_of(const Transfer& put) {
  std::vector<std::byte> stream;
  for (Cursor cursor(put.memory.type); !cursor.done(); cursor.advance(1)) {
    stream.push_back(static_cast<const std::byte*>(put.memory.data)[cursor.piece().begin]);
  }
  return stream;
}

/// Returns a type of memory: in one piece, in pieces of any length, in pieces in any order.
Datatype random_type(std::mt19937_64& random) {
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  switch (below(3)) {
    case 0:
      return Datatype::bytes(1 + below(100'000));
    case 1:
      return Datatype::hvector(1 + below(3000), 1, 40 + below(60), Datatype::bytes(1 + below(40))).value();
    default: {
      std::vector<int64_t> lengths, places;
      int64_t end = below(100);
      for (int64_t i = 0; i <= below(400); ++i) {
        lengths.push_back(1 + below(300));
        places.push_back(end + below(50));
        end = places.back() + lengths.back();
      }
      std::reverse(places.begin(), places.end());
      std::reverse(lengths.begin(), lengths.end());
      return Datatype::hindexed(lengths, places, Datatype::bytes(1)).value();
    }
  }
}

TEST(PutGuard, ASmallPutKeepsWhatItsMemoryHeldWhateverItsType) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Datatype type = random_type(random);
    std::vector<std::byte> memory = random_bytes(static_cast<size_t>(type.true_upper_bound()), random);
    Transfer put = put_of(memory.data(), type);
    const auto held = stream_of(put);
    PutGuard guard(kUsual);
    ASSERT_TRUE(guard.take(put).ok());
    if (type.size() > PutGuard::kSmallBytes) {
      ASSERT_EQ(put.memory.data, memory.data());
      continue;
    }
    std::fill(memory.begin(), memory.end(), std::byte{0});
    EXPECT_EQ(stream_of(put), held);
    EXPECT_TRUE(is_unchanged(guard, put));
    EXPECT_GE(guard.most_bytes(), type.size());
  }
}

TEST(PutGuard, OnlyWhatThePutDescribesCounts) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Datatype type = random_type(random);
    std::vector<std::byte> memory = random_bytes(static_cast<size_t>(type.true_upper_bound()), random);
    Transfer put = put_of(memory.data(), type);
    PutGuard guard(kNoCopies);
    ASSERT_TRUE(guard.take(put).ok());
    EXPECT_EQ(guard.most_bytes(), 0);
    ASSERT_TRUE(is_unchanged(guard, put));

    const auto held = memory;
    std::fill(memory.begin(), memory.end(), std::byte{0});
    for (Cursor cursor(type); !cursor.done(); cursor.advance(cursor.piece().size())) {
      const ByteRange piece = cursor.piece();
      std::memcpy(memory.data() + piece.begin, held.data() + piece.begin, static_cast<size_t>(piece.size()));
    }
    EXPECT_TRUE(is_unchanged(guard, put)) << "gaps have changed";

    const auto change_at = [&](int64_t place) {
      memory = held;
      Cursor cursor(type);
      cursor.seek(place);
      memory[static_cast<size_t>(cursor.piece().begin)] ^= std::byte{1};
    };
    for (const int64_t place : {int64_t{0}, type.size() - 1}) {
      change_at(place);
      EXPECT_FALSE(is_unchanged(guard, put)) << "byte " << place << " has changed";
    }
    memory = held;
    EXPECT_TRUE(is_unchanged(guard, put));
  }
}

TEST(PutGuard, ALongChangeIsSeenWhereverItIs) {
  constexpr int64_t kChanged = 2 * PutGuard::kSampledEvery;
  std::mt19937_64 random(5);
  std::vector<std::byte> memory = random_bytes(1 << 20, random);
  for (const Datatype& type : {Datatype::bytes(1'000'001), Datatype::hvector(60'000, 1, 17, Datatype::bytes(8)).value()}) {
    const Transfer before = put_of(memory.data() + 3, type);
    Transfer put = before;
    PutGuard guard(kNoCopies);
    ASSERT_TRUE(guard.take(put).ok());
    for (int i = 0; i < 300; ++i) {
      const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(type.size() - kChanged));
      const auto held = memory;
      Cursor cursor(type);
      cursor.seek(first);
      for (int64_t at = 0; at < kChanged; ++at, cursor.advance(1)) {
        memory[static_cast<size_t>(3 + cursor.piece().begin)] ^= std::byte{1};
      }
      EXPECT_FALSE(is_unchanged(guard, put)) << "from " << first;
      memory = held;
    }
    EXPECT_TRUE(is_unchanged(guard, put));
  }
}

TEST(PutGuard, CopiesEndAtTheLimitUntilTheyAreReleased) {
  const std::vector<double> numbers(1024, 1.0);
  const Datatype type = Datatype::bytes(8192);
  PutGuard guard({.copied_bytes = 3 * 8192, .samples = true});
  for (int round = 0; round < 2; ++round) {
    std::vector<Transfer> puts;
    for (int i = 0; i < 5; ++i) {
      puts.push_back(put_of(numbers.data(), type, ElementType::kFloat64));
      ASSERT_TRUE(guard.take(puts.back()).ok());
      EXPECT_EQ(puts.back().memory.data != numbers.data(), i < 3);
      EXPECT_EQ(puts.back().sample.has_value(), i >= 3);
    }
    Transfer one_number = put_of(numbers.data(), Datatype::bytes(8), ElementType::kFloat64);
    ASSERT_TRUE(guard.take(one_number).ok());
    EXPECT_NE(one_number.memory.data, numbers.data()) << "its record takes more than the copy";
    Transfer asked_for = put_of(numbers.data(), type, ElementType::kFloat64);
    asked_for.memory = asked_for.memory.copied();
    ASSERT_TRUE(guard.take(asked_for).ok());
    EXPECT_NE(asked_for.memory.data, numbers.data());
    guard.release();
  }
  EXPECT_GE(guard.most_bytes(), 4 * 8192 + 8);
  EXPECT_LT(guard.most_bytes(), 5 * 8192);
}

TEST(PutGuard, NothingIsCopiedOrSampledWhereBothAreOff) {
  const double number = 1;
  PutGuard guard({.copied_bytes = 0, .samples = false});
  Transfer put = put_of(&number, Datatype::bytes(8), ElementType::kFloat64);
  ASSERT_TRUE(guard.take(put).ok());
  EXPECT_EQ(put.memory.data, &number);
  EXPECT_FALSE(put.sample);
}

TEST(PutGuard, AnErrorNamesTheDatasetAndThePut) {
  std::vector<float> numbers(30'000, 1.0f);
  std::vector<Transfer> puts;
  PutGuard guard(kUsual);
  for (int i = 0; i < 3; ++i) {
    puts.push_back(put_of(numbers.data() + 10'000 * i, Datatype::bytes(40'000 + 40'000 * (i / 2)), ElementType::kFloat32));
    puts.back().start = {7 + i, 0};
    puts.back().count = {1, 10'000};
  }
  puts.back().memory = Memory(numbers.data(), 30'000);
  for (Transfer& put : puts) {
    ASSERT_TRUE(guard.take(put).ok());
  }
  numbers.assign(30'000, 2.0f);
  const Status status = guard.check(puts, one_dataset());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  for (const char* part : {"'fields/dens'", "put 3 of 3", "30000 elements", "{1, 10000} from {9, 0}", "put_copy()"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << ": " << status.message();
  }
}

TEST(Arena, GivesMemoryThatDoesNotOverlap) {
  std::mt19937_64 random(3);
  Arena arena;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::byte*, size_t>> taken;
    for (int i = 0; i < 500; ++i) {
      const size_t bytes = random() % 8 == 0 ? random() % 2'000'000 / 10 : random() % 5000;
      std::byte* const to = arena.take(static_cast<int64_t>(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(to) % 16, 0u);
      std::fill_n(to, bytes, static_cast<std::byte>(i));
      taken.emplace_back(to, bytes);
    }
    for (size_t i = 0; i < taken.size(); ++i) {
      EXPECT_TRUE(std::all_of(taken[i].first, taken[i].first + taken[i].second,
                              [&](std::byte one) { return one == static_cast<std::byte>(i); }));
    }
    arena.release();
    EXPECT_EQ(arena.bytes(), 0);
  }
}

}  // namespace
}  // namespace stria::file
