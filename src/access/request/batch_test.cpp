#include "access/request/batch.hpp"

#include <gtest/gtest.h>

#include <map>

#include "access/random_case_test.hpp"

namespace stria::access {
namespace {

Stream stream_of(int id, int64_t bytes, int64_t granule_bytes) {
  return {id, Datatype::bytes(bytes), id * int64_t{1000000}, granule_bytes};
}

/// Runs all batches; checks their sizes and that each stream's bytes come once and in order.
std::vector<std::vector<BatchPart>> batches_of(const std::vector<Lane>& lanes, BatchSizes sizes) {
  std::vector<std::vector<BatchPart>> batches;
  std::map<int, int64_t> reached;
  Status status = for_each_batch(lanes, sizes, [&](std::span<const BatchPart> batch) {
    int64_t sum = 0;
    for (const BatchPart& part : batch) {
      EXPECT_LT(part.begin, part.end);
      EXPECT_EQ(part.begin, reached[part.stream->stream_id]);
      reached[part.stream->stream_id] = part.end;
      sum += part.end - part.begin;
    }
    EXPECT_FALSE(batch.empty());
    EXPECT_LE(sum, sizes.most_bytes);
    batches.emplace_back(batch.begin(), batch.end());
    return Status();
  });
  EXPECT_TRUE(status.ok());
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      EXPECT_EQ(reached[stream.stream_id], stream.size());
    }
  }
  return batches;
}

std::vector<std::vector<BatchPart>> batches_of(const std::vector<Lane>& lanes, int64_t batch_bytes) {
  return batches_of(lanes, BatchSizes::all_alike(batch_bytes));
}

int64_t bytes_of(const std::vector<BatchPart>& batch) {
  int64_t sum = 0;
  for (const BatchPart& part : batch) {
    sum += part.end - part.begin;
  }
  return sum;
}

TEST(Batch, EveryByteComesOnce) {
  uint64_t first = test::first_seed();
  for (int i = 0; i < test::case_count(300); ++i) {
    test::Case c = test::make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed));
    for (const test::RankCase& rank : c.ranks) {
      int64_t most_bytes = std::max<int64_t>(c.hints.staging_bytes / 4, 1);
      batches_of(rank.lanes, most_bytes);
      batches_of(rank.lanes, {std::max<int64_t>(most_bytes / (1 + i % 9), 1), most_bytes});
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

TEST(Batch, VariablesOfAGroupAdvanceInLockstepByWholeGranules) {
  std::vector<Lane> lanes;
  for (int id = 0; id < 24; ++id) {
    lanes.push_back({{0, 100 * 4096}, 7, {stream_of(id, 100 * 4096, 4096)}});
  }
  auto batches = batches_of(lanes, 1 << 20);
  ASSERT_EQ(batches.size(), 10u);  // 1 MiB / 24 holds ten rows of 4 KiB of each
  for (const auto& batch : batches) {
    ASSERT_EQ(batch.size(), 24u);
    for (const BatchPart& part : batch) {
      EXPECT_EQ(part.begin, batch[0].begin);
      EXPECT_EQ(part.end, batch[0].end);
      EXPECT_EQ(part.begin % 4096, 0);
    }
  }
}

TEST(Batch, TheFirstIsSmallAndTheOthersGrow) {
  std::vector<Lane> lanes;
  for (int id = 0; id < 8; ++id) {
    lanes.push_back({{0, 100 * 4096}, 7, {stream_of(id, 100 * 4096, 4096)}});
  }
  auto batches = batches_of(lanes, {64 << 10, 1 << 20});
  std::vector<int64_t> rows;
  for (const auto& batch : batches) {
    EXPECT_EQ(batch.size(), 8u);
    EXPECT_EQ(bytes_of(batch) % (8 * 4096), 0);
    rows.push_back(bytes_of(batch) / (8 * 4096));
  }
  EXPECT_EQ(rows, (std::vector<int64_t>{2, 4, 8, 16, 32, 32, 6}));
  // A first batch that can't hold a row of each takes one nevertheless.
  EXPECT_EQ(bytes_of(batches_of(lanes, {1000, 1 << 20}).front()), 8 * 4096);
}

TEST(Batch, RowsThatDoNotFitAreCutBetweenElements) {
  std::vector<Lane> lanes;
  for (int id = 0; id < 3; ++id) {
    lanes.push_back({{0, 5000}, 0, {stream_of(id, 5000, 4096)}});
  }
  for (const auto& batch : batches_of(lanes, 1000)) {
    for (const BatchPart& part : batch) {
      EXPECT_EQ(part.begin % 8, 0);
    }
  }
}

TEST(Batch, MoreStreamsThanBytesOfTheBatch) {
  std::vector<Lane> lanes;
  for (int id = 0; id < 1000; ++id) {
    lanes.push_back({{0, 24}, 0, {stream_of(id, 24, 8)}});
  }
  batches_of(lanes, 64);
}

TEST(Batch, SmallPanelsShareABatch) {
  std::vector<Lane> lanes;
  for (int id = 0; id < 10; ++id) {
    lanes.push_back({{0, 100}, id, {stream_of(id, 100, 8)}});
  }
  EXPECT_EQ(batches_of(lanes, 500).size(), 2u);
  EXPECT_TRUE(batches_of({}, 500).empty());
}

TEST(Batch, AnErrorEndsTheWalk) {
  std::vector<Lane> lanes = {{{0, 100}, 0, {stream_of(0, 100, 1)}}};
  int calls = 0;
  Status status = for_each_batch(lanes, BatchSizes::all_alike(10), [&](std::span<const BatchPart>) {
    return ++calls == 3 ? Status(ErrorCode::kIo, "third") : Status();
  });
  EXPECT_EQ(status.message(), "third");
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace stria::access
