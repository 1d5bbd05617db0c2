// Memory runs out on one rank in the middle of a collective operation. Every rank ends, with
// the same outcome.
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "access/failing_new_test.hpp"
#include "access/random_case_test.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr const char* kPath = "data";

TEST(ScarceStatus, KeepsItsCodeWhereItsWordsFindNoRoom) {
  const std::string words(100, 'w');
  const Status whole(ErrorCode::kIo, words, ErrorReason{EIO});
  fail_allocations_from(0);
  Counting on(true);
  const Status copy = whole;
  const Status with_context = whole.with_context("rank 3");
  const Status system = Status::from_errno(ENOSPC, words);
  const Result<int> passed_on = Status(ErrorCode::kFormat, "lost");
  Counting off(false);
  EXPECT_EQ(copy.message(), words);
  EXPECT_EQ(with_context.message(), words);
  EXPECT_EQ(with_context.reason(), ErrorReason{EIO});
  EXPECT_EQ(system.code(), ErrorCode::kNoSpace);
  EXPECT_EQ(system.reason(), ErrorReason{ENOSPC});
  EXPECT_EQ(passed_on.status().code(), ErrorCode::kFormat);
  for (const Status& lost : {system, passed_on.status()}) {
    EXPECT_EQ(lost.message(), "the words of this error found no room in memory");
  }
  fail_allocation(-1);
}

struct Outcome {
  Status run;
  std::vector<Status> agreed;
  std::vector<std::vector<Bytes>> received;
  int64_t allocations = 0;
};

/// Writes or reads a case. The engine's allocation number `failing` fails; none if negative.
Outcome run_case(const Case& c, bool write, storage::MemoryDriver& memory, int64_t failing) {
  Outcome outcome;
  outcome.agreed.resize(c.ranks.size());
  outcome.received.resize(c.ranks.size());
  set_content(memory, kPath, write ? c.before : c.after);
  fail_allocation(failing);
  auto report = run_simulated(c.simulation, [&](Comm& inner) {
    SureComm comm(inner);
    auto rank = static_cast<size_t>(comm.rank());
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    StrictFile cached(memory.open(kPath, open).value(), false);
    PhaseTimes times;
    Context context{comm, &cached, c.hints, times};
    CaseSource source(c.ranks[rank]);
    CaseSink sink(c.ranks[rank]);
    Status own;
    {
      Counting on(true);
      own = write ? write_two_phase(context, c.plan, c.ranks[rank].lanes, source)
                  : read_two_phase(context, c.plan, c.ranks[rank].lanes, sink).status;
    }
    outcome.agreed[rank] = comm.agree(own);
    outcome.received[rank] = sink.received();
  });
  outcome.run = report.status();
  outcome.allocations = allocation_count();
  return outcome;
}

void check_all_know(const Outcome& outcome) {
  ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();  // otherwise: a deadlock
  for (const Status& status : outcome.agreed) {
    // Where only the words of a status that nobody needed had no room, all succeed.
    ASSERT_TRUE(status.ok() || status.code() == ErrorCode::kResourceExhausted) << status.message();
    ASSERT_EQ(status.message(), outcome.agreed[0].message());
  }
}

void check_every_moment(bool write, uint64_t first_seed, int cases) {
  int failures = 0;
  for (int i = 0; i < cases; ++i) {
    Case c = make_case(first_seed + static_cast<uint64_t>(i));
    storage::MemoryDriver memory;
    Outcome whole = run_case(c, write, memory, -1);
    ASSERT_TRUE(whole.run.ok() && whole.agreed[0].ok()) << whole.run.message() << whole.agreed[0].message();
    const int64_t step = std::max<int64_t>(whole.allocations / 12, 1);
    for (int64_t failing = i % step; failing < whole.allocations; failing += step) {
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed) + ", allocation " + std::to_string(failing) + " of " +
                   std::to_string(whole.allocations) + ", " + std::to_string(c.ranks.size()) + " ranks");
      const Outcome outcome = run_case(c, write, memory, failing);
      ASSERT_NO_FATAL_FAILURE(check_all_know(outcome));
      failures += outcome.agreed[0].ok() ? 0 : 1;
    }
  }
  EXPECT_GT(failures, 5 * cases);
}

TEST(ScarceMemory, EndsAWriteEverywhere) {
  check_every_moment(true, first_seed() + 5'000'000, case_count(25));
}

TEST(ScarceMemory, EndsAReadEverywhere) {
  check_every_moment(false, first_seed() + 6'000'000, case_count(25));
}

// A rank without room for the bytes stays in step with the others.
TEST(ScarceMemory, EndsABroadcastEverywhere) {
  constexpr int kRanks = 4;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{100000}}) {
    for (int64_t failing = -1; failing < kRanks; ++failing) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, allocation " + std::to_string(failing));
      int lacking = 0;
      fail_allocation(failing);
      const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 2}, [&](Comm& inner) {
        SureComm comm(inner);
        std::vector<std::byte> data(comm.rank() == 1 ? bytes : 0, std::byte{5});
        bool lacks = false;
        try {
          Counting on(true);
          broadcast_bytes(comm, data, 1);
        } catch (const std::bad_alloc&) {
          lacks = true;
        }
        const Bytes expected(bytes, std::byte{5});
        EXPECT_TRUE(lacks || data == expected);
        lacking += lacks ? 1 : 0;
        int64_t ranks = 1;  // what follows isn't taken for what went before
        comm.all_reduce(std::span(&ranks, 1), ReduceOp::kSum);
        EXPECT_EQ(ranks, kRanks);
      });
      ASSERT_TRUE(report.ok()) << report.status().message();
      const bool fails = bytes > 0 && failing >= 0 && failing < kRanks - 1;
      EXPECT_EQ(lacking, !fails ? 0 : bytes > 4096 ? kRanks : 1);
    }
  }
}

// Every rank has the code of a failure, and those with memory for it the text.
TEST(ScarceMemory, AgreesOnAFailureEverywhere) {
  constexpr int kRanks = 5;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{100000}}) {
    int64_t allocations = 1;
    int without_text = 0;
    for (int64_t failing = -1; failing < allocations; ++failing) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, allocation " + std::to_string(failing));
      const Status failure(ErrorCode::kNoSpace, std::string(bytes, 'x'), ErrorReason::kOverQuota);
      without_text = 0;
      fail_allocation(failing);
      const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 2}, [&](Comm& inner) {
        SureComm comm(inner);
        const Status mine = comm.rank() == 3 ? failure : Status();
        const Status agreed = [&] {
          Counting on(true);
          return comm.agree(mine);
        }();
        EXPECT_EQ(agreed.code(), ErrorCode::kNoSpace);
        EXPECT_EQ(agreed.reason(), ErrorReason::kOverQuota);
        const bool has_text = agreed.message() == "rank 3: " + failure.message();
        EXPECT_TRUE(has_text || agreed.message() == Status(ErrorCode::kNoSpace, ErrorReason::kNone).message());
        without_text += has_text ? 0 : 1;
        int64_t ranks = 1;  // what follows isn't taken for what went before
        comm.all_reduce(std::span(&ranks, 1), ReduceOp::kSum);
        EXPECT_EQ(ranks, kRanks);
      });
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(without_text, failing < 0 ? 0 : 1);
      allocations = failing < 0 ? allocation_count() : allocations;
    }
    EXPECT_GE(allocations, bytes > 10 ? 2 * kRanks : 0);
  }
}

}  // namespace
}  // namespace stria::access::test
