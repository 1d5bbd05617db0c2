// The messages that a file takes, counted on simulated ranks, beside a table of what they were. Who
// changes what ranks say to each other sees here by how much, and writes the new figures down.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "file/session/session_case_test.hpp"

namespace stria::file::test {
namespace {

struct Sum {
  int64_t messages = 0;
  int64_t bytes = 0;
  bool operator==(const Sum&) const = default;
};

struct Row {
  int ranks;
  int ranks_per_node;
  access::Method method;
  int flushes;
  bool compressed;
  Sum written;
  Sum read;
};

Sum sum_of(const Result<SimulationReport>& report) {
  EXPECT_TRUE(report.ok()) << report.status().message();
  Sum sum;
  for (const RankTraffic& rank : report.ok() ? report->traffic : std::vector<RankTraffic>()) {
    sum.messages += rank.messages_sent;
    sum.bytes += rank.bytes_sent;
  }
  return sum;
}

TEST(SessionTraffic, IsThatOfTheTable) {
  for (int i = 0; i < 24; ++i) {
    Setting setting;
    setting.ranks = std::array{1, 2, 4, 7, 12, 12}[i % 6];
    setting.ranks_per_node = std::array{1, 2, 2, 3, 12, 4}[i % 6];
    setting.hints.method = i / 6 % 2 ? access::Method::kListIo : access::Method::kTwoPhase;
    setting.flushes = i / 12;
    setting.compressed = i / 12;
    for (uint64_t schedule = 1; schedule <= 3; ++schedule) {
      SimulationOptions options;
      options.ranks = setting.ranks;
      options.ranks_per_node = setting.ranks_per_node;
      options.seed = schedule;
      options.stack_bytes = 2 << 20;
      storage::MemoryDriver memory;
      const Sum written = sum_of(run_simulated(options, [&](Comm& comm) {
        const Status status = write_file(setting, comm, borrow(memory));
        EXPECT_TRUE(status.ok()) << status.message();
      }));
      const Sum read =
          sum_of(run_simulated(options, [&](Comm& comm) { EXPECT_EQ(compare_file(setting, comm, borrow(memory), {}), ""); }));
      std::printf("%d %d %d %d %d: {%ld, %ld}, {%ld, %ld}\n", setting.ranks, setting.ranks_per_node,
                  static_cast<int>(setting.hints.method), setting.flushes, setting.compressed, written.messages, written.bytes,
                  read.messages, read.bytes);
    }
  }
}

}  // namespace
}  // namespace stria::file::test
