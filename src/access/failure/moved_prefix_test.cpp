// The count of a rank's bytes after one of several aggregators has failed, in the first round or a
// later one: it ends at the first byte that was not moved. Simulated ranks run under random
// schedules; counts are compared with the bytes that are really there.
#include "access/failure/moved_prefix.hpp"

#include <gtest/gtest.h>

#include "access/move.hpp"
#include "access/random_case_test.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr const char* kMovedPath = "data";

TEST(MovedPrefix, EndsAtTheFirstMissingByteByTheNumbersOfTheStreams) {
  std::vector<Lane> lanes(2);
  lanes[0].streams = {{2, Datatype::bytes(100), 0}, {0, Datatype::bytes(10), 500}};
  lanes[1].streams = {{1, Datatype::hvector(10, 1, 4, Datatype::bytes(2)).value(), 1000}};
  MovedPrefix moved;
  EXPECT_EQ(moved.bytes(lanes), 130);
  moved.miss(lanes[0].streams[1], 10);  // nothing is there
  EXPECT_EQ(moved.bytes(lanes), 130);
  moved.miss(lanes[0].streams[0], 7);
  EXPECT_EQ(moved.bytes(lanes), 37);
  moved.miss_behind(lanes[1].streams, 1010);  // in the gap behind its third piece
  EXPECT_EQ(moved.bytes(lanes), 16);
  moved.miss(lanes[0].streams[0], 0);
  EXPECT_EQ(moved.bytes(lanes), 16);
  moved.miss_behind(lanes[0].streams, 503);
  EXPECT_EQ(moved.bytes(lanes), 3);
}

/// Runs `move` on all ranks with faults in their handles. Returns what each rank got.
std::vector<Moved> run(const Case& c, storage::MemoryDriver& memory, const std::string& faults,
                       const std::function<Moved(Context&, const RankCase&)>& move) {
  std::vector<Moved> moved(c.ranks.size());
  std::shared_ptr<storage::Driver> shared(std::shared_ptr<void>(), &memory);
  auto report = run_simulated(c.simulation, [&](Comm& comm) {
    storage::FaultDriver driver(shared, storage::FaultScript::parse(faults, comm.rank()).value());
    auto file = driver.open(kMovedPath, {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    PhaseTimes times;
    Context context{comm, file.get(), c.hints, times};
    const auto rank = static_cast<size_t>(comm.rank());
    moved[rank] = move(context, c.ranks[rank]);
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
  return moved;
}

/// Returns each rank's count after a failed write, checked against the file.
std::vector<int64_t> counts_of_write(const Case& c, const std::string& faults) {
  storage::MemoryDriver memory;
  set_content(memory, kMovedPath, c.before);
  const std::vector<Moved> moved = run(c, memory, faults, [&](Context& context, const RankCase& rank) {
    CaseSource source(rank);
    return write_two_phase_agreed(context, c.plan, rank.lanes, source);
  });
  const Bytes content = content_of(memory, kMovedPath);
  std::vector<int64_t> counts;
  for (size_t r = 0; r < c.ranks.size(); ++r) {
    counts.push_back(moved[r].bytes);
    EXPECT_LE(moved[r].bytes, prefix_in_file(c.ranks[r], content)) << "rank " << r;
    EXPECT_TRUE(!moved[r].status.ok() || moved[r].bytes == total_bytes(c.ranks[r].lanes)) << "rank " << r;
    EXPECT_EQ(moved[r].status.message(), moved[0].status.message());
  }
  return counts;
}

std::vector<int64_t> counts_of_read(const Case& c, const std::string& faults) {
  storage::MemoryDriver memory;
  set_content(memory, kMovedPath, c.after);
  std::vector<int64_t> counts(c.ranks.size());
  run(c, memory, faults, [&](Context& context, const RankCase& rank) {
    CaseSink sink(rank);
    Moved moved = read_two_phase(context, c.plan, rank.lanes, sink);
    EXPECT_LE(moved.bytes, prefix_received(rank, sink.received())) << "rank " << context.comm.rank();
    EXPECT_TRUE(!moved.status.ok() || moved.bytes == total_bytes(rank.lanes)) << "rank " << context.comm.rank();
    counts[static_cast<size_t>(context.comm.rank())] = moved.bytes;
    return moved;
  });
  return counts;
}

/// Random requests with several aggregators that need several rounds.
Case make_case_of_rounds(uint64_t seed) {
  Case c = make_case(seed);
  c.plan.buffer_bytes = 512;
  c.plan.unit_bytes = std::min<int64_t>(c.plan.unit_bytes, 512);
  return c;
}

std::string fault_of(const Case& c, const char* operation, int i) {
  const int rank = c.plan.aggregators[c.seed % c.plan.aggregators.size()];
  return std::string(operation) + ":rank=" + std::to_string(rank) + ":nth=" + std::to_string(1 + i % 6) +
         (i % 2 == 0 ? ":count=1" : ":count=all") + ":errno=EIO";
}

TEST(MovedPrefix, IsThereAfterRandomFailures) {
  int partial = 0;  // counts of some bytes, but not of all
  for (int i = 0; i < case_count(300); ++i) {
    const Case c = make_case_of_rounds(first_seed() + 50'000'000 + static_cast<uint64_t>(i));
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed - 50'000'000) + " STRIA_TEST_CASES=1");
    const std::vector<int64_t> written = counts_of_write(c, fault_of(c, "write", i));
    const std::vector<int64_t> read = counts_of_read(c, fault_of(c, "read", i));
    ASSERT_FALSE(HasFailure());
    for (size_t r = 0; r < c.ranks.size(); ++r) {
      for (const int64_t count : {written[r], read[r]}) {
        partial += count > 0 && count < total_bytes(c.ranks[r].lanes) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(partial, case_count(300) / 8);
}

constexpr int64_t kRanks = 4;
constexpr int64_t kRecordBytes = 256;
constexpr int64_t kRoundBytes = 4096;
constexpr int64_t kRounds = 8;  // the rounds of each of two aggregators
constexpr int64_t kFileBytes = 2 * kRounds * kRoundBytes;
constexpr int64_t kRoundShare = kRoundBytes / kRanks;

/// Makes four ranks on two nodes and two aggregators. `by_turns`: each rank has every fourth
/// record, and so a share of every round of each aggregator. Otherwise each has a quarter of the
/// file.
Case make_regular_case(uint64_t seed, bool by_turns) {
  Case c;
  c.seed = seed;
  c.simulation = {.ranks = kRanks, .ranks_per_node = 2, .seed = seed};
  c.plan.buffer_bytes = 2 * kRoundBytes;
  c.plan.aggregators = {1, 2};
  c.plan.unit_bytes = kRoundBytes;
  c.plan.gather_on_nodes = seed % 2 == 0;
  c.plan.most_entries_at_once = seed % 3 == 0 ? 0 : 1000;
  c.before.assign(kFileBytes, std::byte{1});
  c.after.resize(kFileBytes);
  c.ranks.resize(kRanks);
  for (int64_t r = 0; r < kRanks; ++r) {
    RankCase& rank = c.ranks[static_cast<size_t>(r)];
    const int64_t count = kFileBytes / kRanks / kRecordBytes;
    const int64_t stride = by_turns ? kRanks * kRecordBytes : kRecordBytes;
    const int64_t first = by_turns ? r * kRecordBytes : r * kFileBytes / kRanks;
    Lane lane{{0, kFileBytes}, 0, {}};
    lane.streams.push_back({0, Datatype::hvector(count, 1, stride, Datatype::bytes(kRecordBytes)).value(), first});
    rank.lanes.push_back(lane);
    rank.straight.push_back(seed % 5 == 0);
    rank.packed.emplace_back();
    rank.offsets.emplace_back();
    for (int64_t i = 0; i < count * kRecordBytes; ++i) {
      rank.offsets[0].push_back(first + i / kRecordBytes * stride + i % kRecordBytes);
      rank.packed[0].push_back(static_cast<std::byte>(2 + (i * 7 + r) % 250));
      c.after[static_cast<size_t>(rank.offsets[0].back())] = rank.packed[0].back();
    }
  }
  return c;
}

std::string nth_fails(const char* operation, int rank, int64_t nth, uint64_t seed) {
  return std::string(operation) + ":rank=" + std::to_string(rank) + ":nth=" + std::to_string(nth) +
         (seed % 2 == 0 ? ":count=1" : ":count=all") + ":errno=ENOSPC";
}

// The first half of the file belongs to the first aggregator: every rank has exactly what came in
// the rounds before.
TEST(MovedPrefix, CountsTheRoundsBeforeTheOneThatFailed) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Case c = make_regular_case(seed, true);
    for (int64_t failing = 0; failing < kRounds; ++failing) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(failing));
      const std::vector<int64_t> wanted(kRanks, failing * kRoundShare);
      ASSERT_EQ(counts_of_write(c, nth_fails("write", 1, failing + 1, seed)), wanted);
      ASSERT_EQ(counts_of_read(c, nth_fails("read", 1, failing + 1, seed)), wanted);
    }
  }
}

// The other aggregator may have stopped too, but it is at most two rounds behind.
TEST(MovedPrefix, CountsWhatBothAggregatorsHaveDone) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Case c = make_regular_case(seed, true);
    for (int64_t failing = 0; failing < kRounds; ++failing) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(failing));
      for (const auto& counts : {counts_of_write(c, nth_fails("write", 2, failing + 1, seed)),
                                 counts_of_read(c, nth_fails("read", 2, failing + 1, seed))}) {
        for (const int64_t count : counts) {
          ASSERT_GE(count, (failing - 1) * kRoundShare);
          ASSERT_LE(count, (kRounds + failing) * kRoundShare);
        }
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

// A rank by itself, with one request per piece and two streams; the second lies before the
// first in the file.
TEST(MovedPrefix, CountsTheRequestsBeforeTheOneThatFailed) {
  constexpr int64_t kPieces = 10;
  constexpr int64_t kPieceBytes = 8;
  Case c = make_regular_case(1, true);
  c.simulation = {.ranks = 1, .ranks_per_node = 1};
  c.hints.method = Method::kMultiple;
  c.ranks.resize(1);
  RankCase& rank = c.ranks[0];
  const Datatype pieces = Datatype::hvector(kPieces, 1, 64, Datatype::bytes(kPieceBytes)).value();
  rank.lanes[0].streams = {{1, pieces, 0}, {0, pieces, 1000}};
  rank.packed.assign(2, Bytes(kPieces * kPieceBytes, std::byte{7}));
  rank.straight.assign(2, false);
  for (int64_t failing = 0; failing < 2 * kPieces; ++failing) {
    storage::MemoryDriver memory;
    set_content(memory, kMovedPath, c.before);
    const auto moved =
        run(c, memory, nth_fails("write", 0, failing + 1, 1), [&](Context& context, const RankCase& mine) -> Moved {
          CaseSource source(mine);
          const MoveReport outcome = access::move(context, mine.lanes, Endpoint::of_write(source), Independently());
          return {outcome.status, outcome.bytes};
        });
    EXPECT_FALSE(moved[0].status.ok());
    EXPECT_EQ(moved[0].bytes, std::max<int64_t>(failing - kPieces, 0) * kPieceBytes) << "request " << failing;
  }
}

// Windows belong to collective calls: a plan that leads through them is refused, and nothing moves.
TEST(Move, APlanMadeBeforeLeadsThroughNoWindows) {
  Case c = make_regular_case(1, true);
  c.simulation = {.ranks = 1, .ranks_per_node = 1};
  c.ranks.resize(1);
  storage::MemoryDriver memory;
  set_content(memory, kMovedPath, c.before);
  const Plan plan{.way = ThroughWindows(), .reason = ""};
  const auto moved = run(c, memory, nth_fails("write", 0, 1000, 1), [&plan](Context& context, const RankCase& mine) -> Moved {
    CaseSource source(mine);
    const MoveReport report = access::move(context, mine.lanes, Endpoint::of_write(source), AsPlanned{.plan = plan});
    return {report.status, report.bytes};
  });
  EXPECT_EQ(moved[0].status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(moved[0].bytes, 0);
  EXPECT_EQ(content_of(memory, kMovedPath), c.before);
}

// A rank with nothing in the windows that failed has all its bytes.
TEST(MovedPrefix, IsWholeForRanksThatLostNothing) {
  constexpr int64_t kQuarter = kFileBytes / kRanks;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Case c = make_regular_case(seed, false);
    const int64_t failing = kRounds / 2 + 1;  // rank 3's second round, after all of rank 2's
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const auto& counts : {counts_of_write(c, nth_fails("write", 2, failing + 1, seed)),
                               counts_of_read(c, nth_fails("read", 2, failing + 1, seed))}) {
      ASSERT_EQ(counts[2], kQuarter);
      ASSERT_EQ(counts[3], kRoundBytes);
    }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace stria::access::test
