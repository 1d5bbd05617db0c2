#include "file/move/put_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "datatype/cursor.hpp"
#include "file/move/element_map.hpp"

namespace stria::file {
namespace {

DatasetEntry numbers_of_shape(std::vector<int64_t> dims) {
  DatasetEntry entry;
  entry.spec.path = "dens";
  entry.spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
  entry.spec.dims = std::move(dims);
  return entry;
}

double nothing_read = 0;  // nothing is read here

Transfer put_of(const DatasetEntry& entry, const Hyperslab& slab) {
  int64_t elements = 1;
  for (size_t dim = 0; dim < slab.count.size(); ++dim) {
    elements *= slab.count[dim] * (slab.block.empty() ? 1 : slab.block[dim]);
  }
  return make_transfer(0, entry, slab, Memory(&nothing_read, elements)).value();
}

/// Says whether any element is put twice, by counting bytes.
bool shares_any(const std::vector<Transfer>& puts) {
  std::set<int64_t> bytes;
  for (const Transfer& each : puts) {
    for (Cursor cursor(each.region, each.displacement); !cursor.done(); cursor.advance(8)) {
      if (!bytes.insert(cursor.piece().begin).second) {
        return true;
      }
    }
  }
  return false;
}

Status note(const std::vector<Transfer>& puts, const DatasetEntry& entry) {
  PutPlaces places;
  return places.note(puts, {&entry, 1});
}

/// Returns the outcome on rank 0 of ranks with these puts, which each rank has found to be well.
Status of_ranks(const std::vector<std::vector<Transfer>>& ranks, const DatasetEntry& entry) {
  std::vector<PutPlace> all;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    PutPlaces places;
    EXPECT_TRUE(places.note(ranks[rank], {&entry, 1}).ok());
    FieldWriter fields;
    places.encode(fields);
    const std::vector<std::byte> message = fields.take();
    FieldReader reader(message);
    decode_put_places(reader, static_cast<int>(rank), all);
    EXPECT_TRUE(reader.well() && reader.done());
  }
  return check_put_places(std::move(all), {&entry, 1});
}

int64_t up_to(std::mt19937_64& random, int64_t most) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
}

Hyperslab random_slab(std::mt19937_64& random, const std::vector<int64_t>& dims, bool strided) {
  Hyperslab slab;
  for (const int64_t size : dims) {
    const int64_t stride = strided ? 1 + up_to(random, 2) : 1;
    const int64_t start = up_to(random, size - 1);
    slab.start.push_back(start);
    slab.stride.push_back(stride);
    slab.count.push_back(1 + up_to(random, std::min<int64_t>((size - start - 1) / stride, 3)));
  }
  return slab;
}

TEST(PutPlaces, RandomPutsShareWhatTheirBytesShare) {
  std::array<int, 2> seen = {};
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> dims(1 + seed % 3);
    for (int64_t& size : dims) {
      size = 4 + up_to(random, 20);
    }
    const DatasetEntry entry = numbers_of_shape(dims);
    std::vector<Transfer> puts;
    const int64_t count = 2 + up_to(random, 12);
    for (int64_t i = 0; i < count; ++i) {
      puts.push_back(put_of(entry, random_slab(random, dims, seed % 2 == 0)));
    }
    const bool expected = shares_any(puts);
    ++seen[expected ? 1 : 0];
    EXPECT_EQ(note(puts, entry).ok(), !expected) << "seed " << seed;
    // Each is put by a rank of its own: the outcome is the same, but for puts that are alike.
    std::vector<std::vector<Transfer>> ranks;
    std::vector<Transfer> unlike;
    for (const Transfer& each : puts) {
      ranks.push_back({each});
      const bool is_known = std::any_of(unlike.begin(), unlike.end(), [&](const Transfer& other) {
        return other.region == each.region && other.displacement == each.displacement;
      });
      if (!is_known) {
        unlike.push_back(each);
      }
    }
    EXPECT_EQ(of_ranks(ranks, entry).ok(), !shares_any(unlike)) << "seed " << seed;
  }
  EXPECT_GT(seen[0], 100);
  EXPECT_GT(seen[1], 100);
}

TEST(PutPlaces, ColumnsThatRanksTakeInTurnsAreApart) {
  const DatasetEntry entry = numbers_of_shape({500, 12});
  for (int64_t shift = 0; shift < 2; ++shift) {  // the last rank begins one column early, or not
    std::vector<std::vector<Transfer>> ranks;
    for (int64_t rank = 0; rank < 4; ++rank) {
      const int64_t first = 3 * rank - (rank == 3 ? shift : 0);
      ranks.push_back({put_of(entry, {{rank, first}, {496, 3}})});
    }
    const std::vector<Transfer> all = {ranks[0][0], ranks[1][0], ranks[2][0], ranks[3][0]};
    EXPECT_EQ(of_ranks(ranks, entry).ok(), !shares_any(all)) << shift;
    EXPECT_EQ(shares_any(all), shift == 1);
  }
  // Points in turns, of other numbers; and such that meet.
  const DatasetEntry line = numbers_of_shape({100000});
  const Transfer even = put_of(line, {{0}, {30000}, {2}});
  EXPECT_TRUE(of_ranks({{even}, {put_of(line, {{7}, {40000}, {2}})}}, line).ok());
  EXPECT_FALSE(of_ranks({{even}, {put_of(line, {{6}, {40000}, {2}})}}, line).ok());
  EXPECT_TRUE(of_ranks({{even}, {put_of(line, {{60000}, {10000}, {2}})}}, line).ok());
  EXPECT_FALSE(of_ranks({{even}, {put_of(line, {{1}, {30000}, {3}})}}, line).ok());
}

std::vector<Transfer> grid_of_blocks(const DatasetEntry& entry, int64_t side) {
  std::vector<Transfer> blocks;
  for (int64_t i = 0; i < side * side * side; ++i) {
    blocks.push_back(put_of(entry, {{i / (side * side) * 2, i / side % side * 2, i % side * 2}, {2, 2, 2}}));
  }
  return blocks;
}

TEST(PutPlaces, ABlockAmongManyIsNamed) {
  const int64_t side = 30;
  const DatasetEntry entry = numbers_of_shape({2 * side, 2 * side, 2 * side});
  std::vector<Transfer> blocks = grid_of_blocks(entry, side);
  EXPECT_TRUE(note(blocks, entry).ok());
  blocks.push_back(put_of(entry, {{7, 20, 31}, {1, 1, 2}}));
  const Status status = note(blocks, entry);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("dataset 'dens': two puts have the elements [7:8, 20:21, 31:32]"), std::string::npos)
      << status.message();
}

TEST(PutPlaces, ManyRowsOfARankAreSentAsOne) {
  const DatasetEntry entry = numbers_of_shape({1000, 2});
  std::vector<Transfer> rows;
  for (int64_t row = 0; row < 500; ++row) {
    rows.push_back(put_of(entry, {{row, 0}, {1, 2}}));
  }
  PutPlaces places;
  ASSERT_TRUE(places.note(rows, {&entry, 1}).ok());
  FieldWriter fields;
  places.encode(fields);
  EXPECT_LT(fields.take().size(), 100U);
  const Transfer last = put_of(entry, {{499, 0}, {2, 2}}), next = put_of(entry, {{500, 0}, {2, 2}});
  EXPECT_TRUE(of_ranks({rows, {next}}, entry).ok());
  const Status status = of_ranks({rows, {last}}, entry);
  EXPECT_NE(status.message().find("puts of ranks 0 and 1 have the elements [499:500, 0:2]"), std::string::npos)
      << status.message();
}

TEST(PutPlaces, MapsAreComparedElementByElement) {
  const DatasetEntry entry = numbers_of_shape({100});
  const auto mapped = [&](const std::vector<int64_t>& offsets) {
    const auto map = ElementMap::create(offsets).value();
    return make_transfer(0, entry, *map, Memory(&nothing_read, static_cast<int64_t>(offsets.size()))).value();
  };
  EXPECT_TRUE(note({mapped({1, 9, 4}), mapped({8, 2, 3})}, entry).ok());
  EXPECT_FALSE(note({mapped({1, 9, 4}), mapped({8, 4, 3})}, entry).ok());
  EXPECT_TRUE(of_ranks({{mapped({1, 9, 4})}, {mapped({8, 2, 3})}, {mapped({1, 9, 4})}}, entry).ok());
  EXPECT_FALSE(of_ranks({{mapped({1, 9, 4})}, {mapped({8, 9, 3})}}, entry).ok());
}

TEST(PutPlaces, AFlushMakesRoom) {
  const DatasetEntry entry = numbers_of_shape({8});
  const std::vector<Transfer> all = {put_of(entry, {{0}, {8}})};
  PutPlaces places;
  EXPECT_TRUE(places.note(all, {&entry, 1}).ok());
  EXPECT_TRUE(places.note(all, {&entry, 1}).ok());
}

TEST(PutPlaces, AScalarHasOneElement) {
  const DatasetEntry entry = numbers_of_shape({});
  const Transfer one = put_of(entry, {});
  EXPECT_FALSE(note({one, one}, entry).ok());
  EXPECT_TRUE(of_ranks({{one}, {one}, {one}}, entry).ok());
}

}  // namespace
}  // namespace stria::file
