#include "file/checksums/checksum_index.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/hash.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::file {
namespace {

DatasetEntry entry_of(const std::string& path, std::vector<int64_t> dims) {
  DatasetEntry entry;
  entry.spec.path = path;
  entry.spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
  entry.spec.dims = std::move(dims);
  return entry;
}

TEST(ChecksumStore, LongRowsShareATableWhereTheirNumberIsTheSame) {
  std::vector<DatasetEntry> datasets = {entry_of("a", {10, 64}), entry_of("short", {10, 63}), entry_of("b", {10, 8, 8}),
                                        entry_of("c", {11, 64}), entry_of("none", {0, 64}),   entry_of("scalar", {})};
  std::vector<RowTable> tables = place_row_sums(datasets);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].datasets, (std::vector<int>{0, 2}));
  EXPECT_EQ(tables[1].datasets, (std::vector<int>{3}));
  EXPECT_EQ(tables[1].row_count, 11);
  EXPECT_EQ(tables[1].path(1), ".stria/rows_1");
  EXPECT_EQ(datasets[2].checksum_group, 0);
  EXPECT_EQ(datasets[2].checksum_column, 1);
  for (int alone : {1, 4, 5}) {
    EXPECT_EQ(datasets[static_cast<size_t>(alone)].checksum_group, -1);
  }
  datasets.push_back(entry_of("d", {10, 100}));  // later datasets don't move earlier ones
  place_row_sums(datasets);
  EXPECT_EQ(datasets[2].checksum_column, 1);
  EXPECT_EQ(datasets[6].checksum_column, 2);
}

TEST(ChecksumStore, RowSumsGoToTheirPlacesAndTheLastOneCounts) {
  storage::MemoryDriver memory;
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  auto file = memory.open("f", open).value();
  std::vector<RowTable> tables = {{4, {0, 1}, 100}, {3, {2}, 200}};
  std::vector<RowSum> sums = {{1, 2, 72}, {0, 7, 17}, {0, 0, 10}, {0, 1, 99}, {0, 1, 11}, {1, 0, 70}, {0, 7, 18}};
  ASSERT_TRUE(file->write(lay_out_row_sums(tables, sums).segments).ok());
  std::vector<uint64_t> first(8), second(3);
  storage::ReadSegment segments[] = {{100, reinterpret_cast<std::byte*>(first.data()), 64},
                                     {200, reinterpret_cast<std::byte*>(second.data()), 24}};
  ASSERT_EQ(*file->read(segments), 88);
  EXPECT_EQ(first, (std::vector<uint64_t>{10, 11, 0, 0, 0, 0, 0, 18}));
  EXPECT_EQ(second, (std::vector<uint64_t>{70, 0, 72}));
}

TEST(ChecksumStore, ATablesSumDependsOnPlacesAndValuesButNotOnWhoWroteThem) {
  const std::vector<RowTable> tables = {{4, {0, 1}, 100}};
  const std::vector<RowSum> all = {{0, 0, 10}, {0, 1, 11}, {0, 2, 12}, {0, 5, 15}, {0, 6, 16}};
  const auto sealed = [&](std::vector<std::vector<RowSum>> ranks) {
    std::vector<TableShare> shares;
    for (auto& sums : ranks) {
      shares.push_back(lay_out_row_sums(tables, std::move(sums)).shares[0]);
    }
    return unite(std::move(shares));
  };
  const TableSeal one = sealed({all});
  EXPECT_EQ(one.count, 5);
  const TableSeal three = sealed({{all[3], all[1]}, {all[4], all[0]}, {all[2]}, {}});
  EXPECT_EQ(three.count, 5);
  EXPECT_EQ(three.sum, one.sum);
  // Two are exchanged.
  EXPECT_NE(sealed({{{0, 0, 11}, {0, 1, 10}}, {all[2], all[3], all[4]}}).sum, one.sum);
  EXPECT_NE(sealed({{all[0], all[1], all[2], all[3]}}).sum, one.sum);
  EXPECT_EQ(sealed({all, {all[3]}}).count, TableSeal::kUnknown);
  EXPECT_EQ(sealed({{all[0], {0, 0, 99}}}).count, 1);  // a rank's last sum counts
  EXPECT_EQ(sealed({}).count, 0);
}

TEST(ChecksumStore, PlacesThatMayHoldAnotherRowAreKnown) {
  const std::vector<RowTable> tables = {{8, {0}, 100}};
  const auto repeated = [&](std::vector<std::vector<RowSum>> ranks) {
    std::vector<TableShare> shares;
    for (auto& sums : ranks) {
      shares.push_back(lay_out_row_sums(tables, std::move(sums)).shares[0]);
    }
    std::vector<ByteRange> places;
    unite(std::move(shares), &places);
    return places;
  };
  using Places = std::vector<ByteRange>;
  EXPECT_EQ(repeated({{{0, 0, 1}, {0, 1, 2}}, {{0, 2, 3}}}), Places());
  EXPECT_EQ(repeated({{{0, 3, 1}, {0, 4, 1}, {0, 4, 2}, {0, 3, 1}}}), (Places{{4, 5}}));
  EXPECT_EQ(repeated({{{0, 0, 1}, {0, 7000, 1}, {0, 7000, 2}}}), (Places{{7000, 7001}}));
  // Ranks that have put the same, and one that has not.
  EXPECT_EQ(repeated({{{0, 1, 5}, {0, 2, 6}}, {{0, 1, 5}, {0, 2, 6}}}), Places());
  EXPECT_EQ(repeated({{{0, 1, 5}, {0, 2, 6}}, {{0, 1, 5}, {0, 2, 7}}}), (Places{{1, 3}}));
  EXPECT_EQ(repeated({{{0, 1, 5}, {0, 2, 6}, {0, 3, 6}}, {{0, 0, 5}, {0, 1, 5}}, {{0, 3, 6}}}), (Places{{1, 2}, {3, 4}}));
}

TEST(ChecksumStore, DenseAndSparseRowSumsAreWrittenAlike) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    const int64_t span = round % 2 == 0 ? 40 : 4000;  // about as many places as sums, or many more
    storage::MemoryDriver memory;
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kCreate;
    auto file = memory.open("f", open).value();
    std::vector<uint64_t> expected(5000, 0);
    std::vector<RowSum> sums;
    for (int i = 0; i < 60; ++i) {
      const auto index = static_cast<int64_t>(random() % static_cast<uint64_t>(span)) + 10;
      sums.push_back({0, index, random() | 1});
      expected[static_cast<size_t>(index)] = sums.back().sum;
    }
    const std::vector<RowTable> tables = {{5000, {0}, 64}};
    ASSERT_TRUE(file->resize(64 + 5000 * 8).ok());
    ASSERT_TRUE(file->write(lay_out_row_sums(tables, sums).segments).ok());
    std::vector<uint64_t> found(5000);
    storage::ReadSegment segment{64, reinterpret_cast<std::byte*>(found.data()), 5000 * 8};
    ASSERT_TRUE(file->read(std::span(&segment, 1)).ok());
    EXPECT_EQ(found, expected) << span;
  }
}

ChecksumIndex random_index(uint64_t seed) {
  std::mt19937_64 random(seed);
  ChecksumIndex index;
  index.present = true;
  for (uint64_t i = 0, count = 1 + random() % 20; i < count; ++i) {
    index.paths.push_back("dataset " + std::to_string(random()));
    index.placement.emplace_back(i % 2 == 0 ? -1 : 0, static_cast<int64_t>(i));
    auto region = Datatype::hvector(static_cast<int64_t>(1 + random() % 9), 1, static_cast<int64_t>(8 + random() % 50),
                                    Datatype::bytes(8));
    index.slabs.push_back({static_cast<int>(i), static_cast<int64_t>(random() % 100000), region.value(), random()});
  }
  index.tables.push_back({4096, 10, static_cast<int64_t>(index.paths.size())});
  return index;
}

TEST(ChecksumStore, AnIndexTravelsWhole) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    ChecksumIndex index = random_index(seed);
    index.problem = seed % 2 == 0 ? Status() : Status::from_errno(ESTALE, "read the sums");
    auto back = decode_index(encode_index(index));
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->present, index.present);
    EXPECT_EQ(back->problem.code(), index.problem.code());
    EXPECT_EQ(back->problem.reason(), index.problem.reason());
    EXPECT_EQ(back->problem.message(), index.problem.message());
    EXPECT_EQ(back->paths, index.paths);
    EXPECT_EQ(back->placement, index.placement);
    EXPECT_EQ(back->tables, index.tables);
    ASSERT_EQ(back->slabs.size(), index.slabs.size());
    for (size_t i = 0; i < index.slabs.size(); ++i) {
      EXPECT_EQ(back->slabs[i].dataset, index.slabs[i].dataset);
      EXPECT_EQ(back->slabs[i].sum, index.slabs[i].sum);
      EXPECT_EQ(back->slabs[i].displacement, index.slabs[i].displacement);
      EXPECT_TRUE(back->slabs[i].region == index.slabs[i].region);
    }
  }
}

std::vector<std::byte> record_of(const SlabSum& slab) {
  std::vector<std::byte> record;
  encode_slab_sum(slab, record);
  return record;
}

TEST(ChecksumStore, RecordsThatMakeNoSenseAreRefused) {
  EXPECT_TRUE(decode_slab_sums(record_of({1, 64, Datatype::bytes(8), 5}), 2).ok());
  EXPECT_TRUE(decode_slab_sums({}, 0)->empty());
  EXPECT_EQ(decode_slab_sums(record_of({2, 64, Datatype::bytes(8), 5}), 2).status().code(), ErrorCode::kFormat);
  EXPECT_EQ(decode_slab_sums(record_of({-1, 64, Datatype::bytes(8), 5}), 2).status().code(), ErrorCode::kFormat);
  EXPECT_EQ(decode_slab_sums(record_of({1, -1, Datatype::bytes(8), 5}), 2).status().code(), ErrorCode::kFormat);
  EXPECT_EQ(decode_slab_sums(record_of({1, INT64_MAX, Datatype::bytes(8), 5}), 2).status().code(), ErrorCode::kFormat);
  // One place, 2^53 bytes to hash.
  auto endless = Datatype::hvector(int64_t{1} << 50, 1, 0, Datatype::bytes(8)).value();
  EXPECT_EQ(decode_slab_sums(record_of({1, 0, endless, 5}), 2).status().code(), ErrorCode::kFormat);
  std::vector<std::byte> record = record_of({1, 64, Datatype::bytes(8), 5});
  for (size_t size = 1; size < record.size(); ++size) {
    EXPECT_EQ(decode_slab_sums(std::span(record).first(size), 2).status().code(), ErrorCode::kFormat) << size;
  }
}

TEST(ChecksumStore, DamagedRecordsAreDecodedOrRefusedButNeverOverrun) {
  std::mt19937_64 random(3);
  std::vector<std::byte> records;
  for (const SlabSum& slab : random_index(7).slabs) {
    encode_slab_sum(slab, records);
  }
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> damaged = records;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    auto slabs = decode_slab_sums(damaged, 20);
    refused += slabs.ok() ? 0 : 1;
    EXPECT_TRUE(slabs.ok() || slabs.status().code() == ErrorCode::kFormat);
  }
  EXPECT_GT(refused, 0);
}

TEST(ChecksumStore, RecordsAreSealedWithTheirOwnSum) {
  std::vector<std::byte> records = record_of({0, 0, Datatype::bytes(8), 5});
  std::vector<std::byte> sealed = with_own_sum(records);
  ASSERT_EQ(sealed.size(), records.size() + sizeof(uint64_t));
  uint64_t sum = 0;
  std::memcpy(&sum, sealed.data(), sizeof sum);
  EXPECT_EQ(sum, hash_bytes(records));
}

}  // namespace
}  // namespace stria::file
