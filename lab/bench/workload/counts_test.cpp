// The numbers that papers print of their own workloads.
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/rounds.hpp"
#include "workload/catalog.hpp"

namespace stria::bench {
namespace {

const WorkloadKind& kind(const std::string& name) {
  for (const WorkloadKind& one : workload_kinds()) {
    if (one.name == name) {
      return one;
    }
  }
  throw std::out_of_range(name);
}

// Ching and others 2002: 80 blocks of 8^3, 24 variables.
TEST(Counts, FlashOf2002) {
  Chosen chosen = kind("flash").standards();
  chosen.words["blocks-of"] = "turns";
  const Workload workload = kind("flash").make(chosen, {1, 4});
  const RequestCounts counts = count_requests(workload);
  EXPECT_EQ(counts.multiple, 983'040);
  EXPECT_EQ(counts.list, 30);
  EXPECT_EQ(counts.sieving, 1);
  EXPECT_EQ(workload.useful_bytes(), 7'864'320);
}

TEST(Counts, TiledDisplayOf2002) {
  int64_t frame_bytes = 0;
  for (int rank = 0; rank < 6; ++rank) {
    const Workload workload = kind("display").make(kind("display").standards(), {rank, 6});
    const RequestCounts counts = count_requests(workload);
    EXPECT_EQ(counts.multiple, 768);
    EXPECT_EQ(counts.list, 12);
    EXPECT_EQ(counts.sieving, 1);
    frame_bytes = workload.arrays[0].bytes();
  }
  EXPECT_EQ(frame_bytes, 2532 * 1408 * 3);
}

// Yu, Vetter, Oral 2008: 800^3 cells on 4,096 ranks.
TEST(Counts, S3dOf2008) {
  Chosen chosen = kind("s3d").standards();
  chosen.numbers["cells"] = 800;
  const Workload workload = kind("s3d").make(chosen, {4095, 4096});
  EXPECT_EQ(workload.useful_bytes(), 50 * 50 * 50 * 128);
  EXPECT_EQ(workload.place(3) + workload.arrays[3].bytes(), int64_t{800} * 800 * 800 * 128);
  EXPECT_EQ(count_requests(workload).multiple, 16 * 50 * 50);
  EXPECT_EQ(workload.calls.size(), 4u);
}

// NPB: class A is 64^3 points, 40 dumps, 0.42 GB.
TEST(Counts, BtioClassA) {
  Chosen chosen = kind("btio").standards();
  chosen.numbers["points"] = 64;
  const int64_t dumps = rounds<int64_t>(40);
  chosen.numbers["dumps"] = dumps;
  for (const char* way : {"full", "simple", "epio"}) {
    chosen.words["kind"] = way;
    int64_t bytes = 0;
    for (int rank = 0; rank < 9; ++rank) {
      bytes += kind("btio").make(chosen, {rank, 9}).useful_bytes();
    }
    EXPECT_EQ(bytes, int64_t{64} * 64 * 64 * 40 * dumps) << way;
  }
  chosen.words["kind"] = "simple";
  EXPECT_EQ(kind("btio").make(chosen, {0, 4}).calls.size(), static_cast<size_t>(dumps) * 2 * 32 * 32);
}

TEST(Counts, CyclicByAccesses) {
  Chosen chosen = kind("cyclic").standards();
  chosen.numbers["mib"] = 1024;
  chosen.numbers["accesses"] = 1'000'000;
  const RequestCounts counts = count_requests(kind("cyclic").make(chosen, {7, 8}));
  EXPECT_EQ(counts.multiple, 1'000'000);
  EXPECT_EQ(counts.list, 1'000'000 / 64);
  EXPECT_EQ(count_requests(kind("blockblock").make(chosen, {3, 4})).multiple, 1'000'000);
}

}  // namespace
}  // namespace stria::bench
