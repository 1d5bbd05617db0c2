#include "file/move/transfer_set.hpp"

#include <gtest/gtest.h>

namespace stria::file {
namespace {

constexpr int64_t kOldBytes = 5000;

DatasetEntry numbers_at(int64_t offset, bool is_updated) {
  DatasetEntry entry;
  entry.spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
  entry.spec.dims = {10};
  entry.data_offset = offset;
  entry.is_updated = is_updated;
  return entry;
}

DatasetEntry chunks_anywhere() {
  DatasetEntry entry = numbers_at(0, true);
  entry.spec.chunking.emplace().dims = {4};
  entry.stored_bytes = kOldBytes;
  return entry;
}

// A rank that fills a window of one lane rewrites what lies between its bytes: no other lane may
// have bytes there.
TEST(TransferSet, WhatIsOverwrittenSharesALaneWhereSomeIsInChunks) {
  const std::vector<double> memory(10, 1.0);
  std::vector<DatasetEntry> datasets = {numbers_at(kOldBytes, false), numbers_at(2000, true), chunks_anywhere(),
                                        chunks_anywhere()};
  std::vector<Transfer> puts;
  for (int number = 0; number < 4; ++number) {
    puts.push_back(make_transfer(number, datasets[static_cast<size_t>(number)], {{0}, {10}}, Memory(memory)).value());
  }
  puts[2].displacement = 4000;  // where chunks lie
  puts[3].displacement = 1000;
  const auto set = TransferSet::create(puts, datasets, {}).value();
  ASSERT_EQ(set->lanes().size(), 4u);
  EXPECT_EQ(set->lanes()[0].hull, (ByteRange{kOldBytes, kOldBytes + 80}));
  EXPECT_EQ(set->lanes()[0].streams.size(), 1u);
  EXPECT_EQ(set->lanes()[1].hull, (ByteRange{0, kOldBytes}));
  EXPECT_NE(set->lanes()[1].group, set->lanes()[0].group);
  std::vector<int> order;
  for (const access::Stream& stream : set->lanes()[1].streams) {
    order.push_back(stream.stream_id);
  }
  EXPECT_EQ(order, (std::vector<int>{3, 1, 2}));  // their order in the file
  for (const size_t lane : {2, 3}) {
    EXPECT_TRUE(set->lanes()[lane].hull.empty() && set->lanes()[lane].streams.empty());
  }
}

// Datasets that have one piece each are lanes of their own.
TEST(TransferSet, DatasetsInOnePieceHaveLanes) {
  const std::vector<DatasetEntry> datasets = {numbers_at(2000, true), numbers_at(3000, true)};
  const auto set = TransferSet::create({}, datasets, {}).value();
  EXPECT_EQ(set->lanes()[0].hull, (ByteRange{2000, 2080}));
  EXPECT_EQ(set->lanes()[1].hull, (ByteRange{3000, 3080}));
}

}  // namespace
}  // namespace stria::file
