#include "workload/parameters.hpp"

#include <gtest/gtest.h>

namespace stria::flash {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

TEST(Partition, OfTheOriginalBenchmark) {
  const BlockPartition partition = partition_blocks({}, MPI_COMM_WORLD);
  int64_t first = 0;
  int64_t total = 0;
  for (int rank = 0; rank < world_size(); ++rank) {
    first += rank < world_rank() ? 80 + rank % 3 : 0;
    total += 80 + rank % 3;
  }
  EXPECT_EQ(partition.local, 80 + world_rank() % 3);
  EXPECT_EQ(partition.first, first);
  EXPECT_EQ(partition.total, total);
}

TEST(Partition, OfAGivenNumberOfBlocks) {
  const BlockPartition partition = partition_blocks({.blocks_per_rank = 7}, MPI_COMM_WORLD);
  EXPECT_EQ(partition.local, 7);
  EXPECT_EQ(partition.first, 7 * world_rank());
  EXPECT_EQ(partition.total, 7 * world_size());
}

TEST(Partition, SpreadsAnyNumberOfBlocksEvenly) {
  for (int64_t total : {1, 5, 7, 100}) {
    const BlockPartition mine = spread_blocks(total, MPI_COMM_WORLD);
    EXPECT_EQ(mine.total, total);
    EXPECT_GE(mine.local, total / world_size());
    EXPECT_LE(mine.local, total / world_size() + 1);
    int64_t first = 0;
    MPI_Exscan(&mine.local, &first, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(mine.first, world_rank() == 0 ? 0 : first);
    int64_t sum = 0;
    MPI_Allreduce(&mine.local, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sum, total);
  }
}

TEST(UsefulBytes, CountInteriorCellsOnly) {
  // 7.5 MiB, as the paper says.
  EXPECT_EQ(useful_bytes({.nxb = 8, .nvar = 24}, 80, 24, 8), 7864320);
  EXPECT_EQ(useful_bytes({.nxb = 16, .nvar = 24}, 688, 24, 8), 541065216);
  EXPECT_EQ(useful_bytes({.nxb = 8, .nvar = 24}, 80, 4, 4), 655360);  // 0.625 MiB
}

}  // namespace
}  // namespace stria::flash
