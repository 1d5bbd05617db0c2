// Memory that runs out on one rank during a commit: every rank ends, with the same outcome, and no file has the name.
#include <gtest/gtest.h>

#include <algorithm>

#include "access/failing_new_test.hpp"
#include "access/random_case_test.hpp"
#include "file/session_case_test.hpp"

namespace stria::file::test {
namespace {

using access::test::Counting;
using access::test::SureComm;

struct Outcome {
  std::vector<Status> statuses;
  int64_t allocations = 0;
};

/// Writes a file whose commit's allocation number `failing` fails, none if negative.
Outcome commit_once(const Setting& setting, storage::MemoryDriver& memory, int64_t failing) {
  Outcome outcome;
  outcome.statuses.resize(static_cast<size_t>(setting.ranks));
  access::test::fail_allocation(failing);
  on_ranks(setting, [&](Comm& inner) {
    SureComm comm(inner);
    outcome.statuses[static_cast<size_t>(comm.rank())] = write_file(setting, comm, borrow(memory), [](WriteSession& session) {
      Counting on(true);
      return session.commit();
    });
  });
  outcome.allocations = access::test::allocation_count();
  return outcome;
}

void check_every_moment(const Setting& setting) {
  storage::MemoryDriver untouched;
  const Outcome whole = commit_once(setting, untouched, -1);
  ASSERT_TRUE(whole.statuses[0].ok()) << whole.statuses[0].message();
  int64_t failures = 0;
  const int64_t step = std::max<int64_t>(whole.allocations / access::test::case_count(60), 1);
  for (int64_t failing = 0; failing < whole.allocations; failing += step) {
    SCOPED_TRACE("allocation " + std::to_string(failing) + " of " + std::to_string(whole.allocations));
    storage::MemoryDriver memory;
    const Outcome outcome = commit_once(setting, memory, failing);
    ASSERT_FALSE(testing::Test::HasFailure());  // a deadlock
    for (const Status& status : outcome.statuses) {
      ASSERT_EQ(status.code(), outcome.statuses[0].code()) << status.message();
      ASSERT_EQ(status.message(), outcome.statuses[0].message());
    }
    if (!outcome.statuses[0].ok()) {
      // The driver keeps files in memory: where it runs out the device is full.
      const ErrorCode code = outcome.statuses[0].code();
      ASSERT_TRUE(code == ErrorCode::kResourceExhausted || code == ErrorCode::kNoSpace) << outcome.statuses[0].message();
      ASSERT_FALSE(*memory.exists(setting.path));
      ++failures;
    }
  }
  EXPECT_GT(failures, whole.allocations / step / 2);
}

TEST(ScarceCommit, EndsAListWriteEverywhere) {
  Setting setting;
  setting.ranks = 3;
  setting.hints.method = access::Method::kListIo;
  check_every_moment(setting);
}

TEST(ScarceCommit, EndsATwoPhaseWriteEverywhere) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 2;
  setting.hints.method = access::Method::kTwoPhase;
  check_every_moment(setting);
}

}  // namespace
}  // namespace stria::file::test
