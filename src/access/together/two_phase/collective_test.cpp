// Compares the access methods on simulated ranks with a file that is written byte by byte.
#include <gtest/gtest.h>

#include "access/alone/batches.hpp"
#include "access/move.hpp"
#include "access/random_case_test.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr const char* kPath = "data";

/// Says what went from one node to another.
struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
  void add(const Traffic& more) {
    messages += more.messages;
    bytes += more.bytes;
  }
};

/// The result of a run of all ranks: the statuses that each rank had, and those that each rank
/// got from agree().
struct Outcome {
  Status run;
  std::vector<Status> own;
  std::vector<Status> agreed;
  Traffic away;
};

std::string describe(const Case& c) {
  return "STRIA_TEST_SEED=" + std::to_string(c.seed) + " STRIA_TEST_CASES=1: " + (c.two_phase ? "two_phase" : "list_io") +
         ", " + std::to_string(c.simulation.ranks) + " ranks, " + std::to_string(c.simulation.ranks_per_node) + " a node, " +
         std::to_string(c.plan.aggregators.size()) + " aggregators, buffer " + std::to_string(c.hints.collective_buffer_bytes) +
         ", unit " + std::to_string(c.plan.unit_bytes) + ", stripes " + std::to_string(c.plan.stripe_count);
}

using Move = std::function<Status(Context&, const RankCase&, storage::File* direct)>;

/// Runs `move` on all ranks with handles on one file in memory, through a script of faults.
Outcome run_case(const Case& c, storage::MemoryDriver& memory, const std::string& faults, const Move& move) {
  Outcome outcome;
  outcome.own.resize(c.ranks.size());
  outcome.agreed.resize(c.ranks.size());
  std::shared_ptr<storage::Driver> shared(std::shared_ptr<void>(), &memory);
  auto report = run_simulated(c.simulation, [&](Comm& comm) {
    auto rank = static_cast<size_t>(comm.rank());
    std::shared_ptr<storage::Driver> driver = shared;
    if (!faults.empty()) {
      driver = std::make_shared<storage::FaultDriver>(shared, storage::FaultScript::parse(faults, comm.rank()).value());
    }
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    StrictFile cached(driver->open(kPath, open).value(), false, c.native_list);
    StrictFile direct(driver->open(kPath, open).value(), true, c.native_list);
    PhaseTimes times;
    Context context{comm, &cached, c.hints, times};
    outcome.own[rank] = move(context, c.ranks[rank], c.direct ? &direct : nullptr);
    outcome.agreed[rank] = comm.agree(outcome.own[rank]);
  });
  outcome.run = report.status();
  if (report.ok()) {
    outcome.away.add({report->total().messages_sent_away, report->total().bytes_sent_away});
  }
  return outcome;
}

Outcome write_case(const Case& c, storage::MemoryDriver& memory, const std::string& faults = "") {
  set_content(memory, kPath, c.before);
  return run_case(c, memory, faults, [&](Context& context, const RankCase& rank, storage::File* direct) {
    CaseSource source(rank);
    Plan plan{.way = Alone{.in_batches = true}, .reason = {}};
    if (c.two_phase) {
      plan.way = c.plan;
    }
    const AsPlanned planned{.plan = plan, .aids = {.direct_file = direct}};
    return access::move(context, rank.lanes, Endpoint::of_write(source), planned).status;
  });
}

Status read_all(Context& context, const Case& c, const RankCase& rank, StreamSink& sink) {
  Moved moved = c.two_phase ? read_two_phase(context, c.plan, rank.lanes, sink) : read_batches(context, rank.lanes, sink);
  return require_all(moved, context, rank.lanes);
}

/// Returns the first byte where two files differ, as text; empty when there is none.
std::string difference(const Bytes& seen, const Bytes& expected) {
  if (seen.size() != expected.size()) {
    return "sizes " + std::to_string(seen.size()) + " and " + std::to_string(expected.size());
  }
  auto [at, other] = std::mismatch(seen.begin(), seen.end(), expected.begin());
  return at == seen.end() ? "" : "byte " + std::to_string(at - seen.begin());
}

/// True for each byte of the file that some rank writes.
std::vector<bool> written_bytes(const Case& c) {
  std::vector<bool> written(c.before.size(), false);
  for (const RankCase& rank : c.ranks) {
    for (const auto& offsets : rank.offsets) {
      for (int64_t offset : offsets) {
        written[static_cast<size_t>(offset)] = true;
      }
    }
  }
  return written;
}

TEST(Collective, WritesEqualTheOracle) {
  uint64_t first = first_seed();
  for (int i = 0; i < case_count(700); ++i) {
    Case c = make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    Outcome outcome = write_case(c, memory);
    ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
    ASSERT_TRUE(outcome.agreed[0].ok()) << outcome.agreed[0].message();
    ASSERT_EQ(difference(content_of(memory, kPath), c.after), "");
  }
}

TEST(Collective, ReadsEqualTheOracle) {
  uint64_t first = first_seed() + 1'000'000;
  for (int i = 0; i < case_count(600); ++i) {
    Case c = make_case(first + static_cast<uint64_t>(i));
    if (i % 3 == 0) {  // the same bytes to all ranks
      c.ranks.assign(c.ranks.size(), c.ranks[static_cast<size_t>(i) % c.ranks.size()]);
    }
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    set_content(memory, kPath, c.after);
    std::vector<std::vector<Bytes>> received(c.ranks.size());
    Outcome outcome = run_case(c, memory, "", [&](Context& context, const RankCase& rank, storage::File*) {
      CaseSink sink(rank);
      Status status = read_all(context, c, rank, sink);
      received[static_cast<size_t>(context.comm.rank())] = sink.received();
      return status;
    });
    ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
    ASSERT_TRUE(outcome.agreed[0].ok()) << outcome.agreed[0].message();
    for (size_t rank = 0; rank < c.ranks.size(); ++rank) {
      ASSERT_TRUE(received[rank] == c.ranks[rank].packed) << "rank " << rank;
    }
  }
}

/// Returns a case of two-phase on several nodes; `seed` advances until there is one.
Case case_of_nodes(uint64_t& seed, int ranks_per_node) {
  while (true) {
    Case c = make_case(seed++);
    if (c.simulation.ranks > ranks_per_node) {
      c.two_phase = true;
      c.plan.shared_memory = true;
      c.simulation.ranks_per_node = ranks_per_node;
      return c;
    }
  }
}

TEST(Collective, DelegatesChangeOnlyTheMessagesOfAWrite) {
  for (int ranks_per_node : {1, 2, 3, 5, 8}) {
    Traffic traffic[2];
    uint64_t seed = first_seed() + 5'000'000;
    for (int i = 0; i < case_count(40); ++i) {
      Case c = case_of_nodes(seed, ranks_per_node);
      for (int gather : {0, 1}) {
        c.plan.gather_on_nodes = gather == 1;
        SCOPED_TRACE(describe(c) + (gather == 1 ? ", with delegates" : ""));
        storage::MemoryDriver memory;
        Outcome outcome = write_case(c, memory);
        ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
        ASSERT_TRUE(outcome.agreed[0].ok()) << outcome.agreed[0].message();
        ASSERT_EQ(difference(content_of(memory, kPath), c.after), "");
        traffic[gather].add(outcome.away);
      }
    }
    SCOPED_TRACE(std::to_string(ranks_per_node) + " ranks a node");
    EXPECT_TRUE(ranks_per_node == 1 ? traffic[1].messages == traffic[0].messages : traffic[1].messages < traffic[0].messages);
  }
}

TEST(Collective, DelegatesChangeOnlyTheMessagesOfARead) {
  for (int ranks_per_node : {1, 2, 3, 5, 8}) {
    for (bool same : {false, true}) {  // the same bytes to all ranks come once per node
      Traffic traffic[2];
      uint64_t seed = first_seed() + 6'000'000;
      for (int i = 0; i < case_count(30); ++i) {
        Case c = case_of_nodes(seed, ranks_per_node);
        if (same) {
          c.ranks.assign(c.ranks.size(), c.ranks[static_cast<size_t>(i) % c.ranks.size()]);
        }
        for (int gather : {0, 1}) {
          c.plan.gather_on_nodes = gather == 1;
          SCOPED_TRACE(describe(c) + (gather == 1 ? ", with delegates" : "") + (same ? ", all the same" : ""));
          storage::MemoryDriver memory;
          set_content(memory, kPath, c.after);
          Outcome outcome = run_case(c, memory, "", [&](Context& context, const RankCase& rank, storage::File*) {
            CaseSink sink(rank);
            Status status = read_all(context, c, rank, sink);
            EXPECT_TRUE(sink.received() == rank.packed);
            return status;
          });
          ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
          ASSERT_TRUE(outcome.agreed[0].ok()) << outcome.agreed[0].message();
          traffic[gather].add(outcome.away);
        }
      }
      SCOPED_TRACE(std::to_string(ranks_per_node) + " ranks a node");
      EXPECT_TRUE(ranks_per_node == 1 ? traffic[1].messages == traffic[0].messages : traffic[1].messages < traffic[0].messages);
      const bool is_average = case_count(30) >= 30;  // single cases have more to tell than to read
      EXPECT_TRUE(!same || ranks_per_node < 3 || !is_average || 3 * traffic[1].bytes < 2 * traffic[0].bytes)
          << traffic[1].bytes << " and " << traffic[0].bytes;
    }
  }
}

/// Checks that a failed operation ended on every rank with the error of its cause.
void check_failure(const Outcome& outcome, int failing_rank) {
  const bool alone = outcome.agreed.size() == 1;  // with one rank, the message needn't say which
  for (const Status& status : outcome.agreed) {
    ASSERT_EQ(status.code(), ErrorCode::kIo) << status.message();
    ASSERT_EQ(status.message(), outcome.agreed[0].message());
    ASSERT_EQ(status.message().starts_with("rank " + std::to_string(failing_rank) + ": "), !alone) << status.message();
  }
  for (size_t rank = 0; rank < outcome.own.size(); ++rank) {
    ErrorCode code = outcome.own[rank].code();
    ASSERT_TRUE(static_cast<int>(rank) == failing_rank ? code == ErrorCode::kIo
                                                       : code == ErrorCode::kOk || code == ErrorCode::kAborted);
  }
}

int failing_rank(const Case& c) {
  return c.two_phase ? c.plan.aggregators[c.seed % c.plan.aggregators.size()] : static_cast<int>(c.seed % c.ranks.size());
}

TEST(Collective, AFailedWriteEndsEverywhereAndSparesTheRest) {
  uint64_t first = first_seed() + 2'000'000;
  int failures = 0;
  for (int i = 0; i < case_count(400); ++i) {
    Case c = make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    int rank = failing_rank(c);
    std::string when = "write:rank=" + std::to_string(rank) + ":nth=" + std::to_string(1 + i % 4);
    Outcome outcome = write_case(c, memory, when + ":count=" + (i % 2 == 0 ? "1" : "all") + ":errno=EIO");
    ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
    Bytes content = content_of(memory, kPath);
    if (outcome.agreed[0].ok()) {
      ASSERT_EQ(difference(content, c.after), "");
      continue;
    }
    ++failures;
    ASSERT_NO_FATAL_FAILURE(check_failure(outcome, rank));
    std::vector<bool> written = written_bytes(c);
    ASSERT_EQ(content.size(), c.before.size());
    for (size_t at = 0; at < content.size(); ++at) {
      ASSERT_TRUE(written[at] || content[at] == c.before[at]) << "byte " << at;
    }
  }
  EXPECT_GT(failures, case_count(400) / 8);
}

TEST(Collective, AFailedReadEndsEverywhere) {
  uint64_t first = first_seed() + 3'000'000;
  int failures = 0;
  for (int i = 0; i < case_count(400); ++i) {
    Case c = make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    set_content(memory, kPath, c.after);
    int rank = failing_rank(c);
    std::string faults = "read:rank=" + std::to_string(rank) + ":nth=" + std::to_string(1 + i % 4) + ":errno=EIO";
    Outcome outcome = run_case(c, memory, faults, [&](Context& context, const RankCase& mine, storage::File*) {
      CaseSink sink(mine);
      return read_all(context, c, mine, sink);
    });
    ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
    if (!outcome.agreed[0].ok()) {
      ++failures;
      ASSERT_NO_FATAL_FAILURE(check_failure(outcome, rank));
    }
  }
  EXPECT_GT(failures, case_count(400) / 8);
}

TEST(Collective, ReadingPastTheEndIsCorruption) {
  uint64_t first = first_seed() + 4'000'000;
  for (int i = 0; i < case_count(60); ++i) {
    Case c = make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(c));
    std::vector<bool> wanted = written_bytes(c);
    auto last = std::find(wanted.rbegin(), wanted.rend(), true);
    storage::MemoryDriver memory;
    Bytes cut = c.after;
    cut.resize(static_cast<size_t>(std::max<std::ptrdiff_t>(wanted.rend() - last - 1, 0)));
    set_content(memory, kPath, cut);
    Outcome outcome = run_case(c, memory, "", [&](Context& context, const RankCase& mine, storage::File*) {
      CaseSink sink(mine);
      return read_all(context, c, mine, sink);
    });
    ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();
    ASSERT_EQ(outcome.agreed[0].code(), last == wanted.rend() ? ErrorCode::kOk : ErrorCode::kCorrupted);
  }
}

}  // namespace
}  // namespace stria::access::test
