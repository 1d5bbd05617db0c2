// Ranks that have defined different things look for the first one, while memory runs out on one of
// them at every moment in turn.
#include "file/meet/definition_log.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "access/failing_new_test.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria::file::test {
namespace {

constexpr int kDefiningRanks = 3;
constexpr int kSame = 400;  // calls that all ranks make alike: more than 4 KiB of hashes

/// Rank 2 differs in its last call. Returns how many allocations there were.
int64_t explain(int64_t failing) {
  access::test::fail_allocation(failing);
  int lacking = 0;
  const auto report = run_simulated({.ranks = kDefiningRanks, .ranks_per_node = 2}, [&](Comm& inner) {
    access::test::SureComm comm(inner);
    DefinitionLog log;
    for (int call = 0; call <= kSame; ++call) {
      const bool differs = call == kSame && comm.rank() == 2;
      log.add(differs ? 1000 : static_cast<uint64_t>(call), 0, [call, differs] {
        return DefinitionText{"call " + std::to_string(call), {{"an argument", differs ? "other" : "same"}}};
      });
    }
    Status outcome;
    {
      access::test::Counting on(true);
      outcome = log.explain(comm);
    }
    lacking += outcome.code() == ErrorCode::kResourceExhausted ? 1 : 0;
    if (failing < 0) {
      EXPECT_EQ(outcome.message(), "call 400: an argument is same on rank 0 and other on rank 2");
    }
    int64_t ranks = 1;
    comm.all_reduce(std::span(&ranks, 1), ReduceOp::kSum);
    EXPECT_EQ(ranks, kDefiningRanks) << "the ranks are in step";
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(failing < 0 ? lacking == 0 : lacking <= kDefiningRanks);
  return access::test::allocation_count();
}

TEST(DefinitionLog, NamesTheFirstDifferenceAndEndsWhereMemoryLacks) {
  const int64_t allocations = explain(-1);
  ASSERT_GT(allocations, 10);
  for (int64_t failing = 0; failing < allocations; ++failing) {
    SCOPED_TRACE("allocation " + std::to_string(failing) + " of " + std::to_string(allocations));
    explain(failing);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace stria::file::test
