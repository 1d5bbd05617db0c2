#include "file/meet/part_exchange.hpp"

#include <gtest/gtest.h>

#include "comm/simulated/simulated_comm.hpp"

namespace stria::file {
namespace {

std::vector<std::byte> part_of(int rank, int64_t bytes) {
  std::vector<std::byte> part(static_cast<size_t>(bytes));
  for (size_t i = 0; i < part.size(); ++i) {
    part[i] = static_cast<std::byte>(static_cast<size_t>(rank) * 31 + i * 7);
  }
  return part;
}

TEST(PartExchange, PartsOfAnySizeComeToRank0) {
  const int64_t sizes[] = {0, 1, 2047, 2048, 2049, 4096, 100001};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulationOptions options;
    options.ranks = static_cast<int>(1 + seed % 9);
    options.seed = seed;
    const auto bytes_of = [&](int rank) { return sizes[(seed + static_cast<uint64_t>(rank) * 3) % std::size(sizes)]; };
    auto report = run_simulated(options, [&](Comm& comm) {
      PartExchange parts;
      EXPECT_FALSE(parts.started());
      parts.start(comm, part_of(comm.rank(), bytes_of(comm.rank())));
      EXPECT_TRUE(parts.started());
      parts.finish();
      if (comm.rank() == 0) {
        auto all = parts.take();
        ASSERT_TRUE(all.ok());
        ASSERT_EQ(all->size(), static_cast<size_t>(comm.size()));
        for (int rank = 0; rank < comm.size(); ++rank) {
          EXPECT_TRUE((*all)[static_cast<size_t>(rank)] == part_of(rank, bytes_of(rank))) << "rank " << rank;
        }
      }
    });
    ASSERT_TRUE(report.ok()) << report.status().message();
  }
}

}  // namespace
}  // namespace stria::file
