// Reads of all ranks, of which some or all move their bytes before they meet: what is read, how
// many messages that takes, and that every rank has the same outcome.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "comm/self/self_comm.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

constexpr int kRanks = 4;
constexpr int64_t kElements = 4000;
constexpr int64_t kMessagesOfAMeeting = 8;

/// Numbers that are their places: of a dataset that can be read where it lies, or of one in chunks.
void write_line(storage::MemoryDriver& memory, bool in_chunks) {
  Setting one;
  on_ranks(one, [&](Comm& comm) {
    auto session = WriteSession::create(environment_of(comm, borrow(memory), {}), one.path, {}).value();
    container::DatasetSpec spec;
    spec.path = "line";
    spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
    spec.dims = {kElements};
    DatasetOptions options;
    if (in_chunks) {
      options.chunk = {500};
      options.filters = Filters::compress();
    }
    ASSERT_TRUE(create_dataset(*session, spec, options).ok());
    std::vector<double> values(kElements);
    std::iota(values.begin(), values.end(), 0.0);
    ASSERT_TRUE(session->record(0, {{0}, {kElements}}, Memory(values.data(), kElements)).ok());
    ASSERT_TRUE(session->commit().ok());
  });
}

/// Holds what a rank reads: every `step`-th element from `first` on.
struct Every {
  int64_t first = 0, step = 1, count = 0;
};

Every own_rows(int rank, int64_t step) {
  const int64_t rows = kElements / kRanks;
  return {rank * rows, step, rows / step};
}

Every dealt_out(int rank) {
  return {rank, kRanks * 10, kElements / (kRanks * 10)};
}

int line_of(ReadSession& session) {
  return session.find("line").value();
}

/// Reads, and compares where that succeeds.
Status read_line(ReadSession& session, const Every& wanted) {
  std::vector<double> values(static_cast<size_t>(wanted.count), -1);
  const Status recorded =
      session.record(line_of(session), {{wanted.first}, {wanted.count}, {wanted.step}}, Memory(values.data(), wanted.count));
  EXPECT_TRUE(recorded.ok()) << recorded.message();
  const Status status = session.flush();
  for (int64_t i = 0; status.ok() && i < wanted.count; ++i) {
    EXPECT_EQ(values[static_cast<size_t>(i)], static_cast<double>(wanted.first + i * wanted.step)) << "element " << i;
  }
  return status;
}

std::shared_ptr<ReadSession> open_line(Comm& comm, std::shared_ptr<storage::Driver> driver) {
  return ReadSession::open(environment_of(comm, std::move(driver), {}), "run.h5", {}).value();
}

int64_t messages_of(storage::MemoryDriver& memory, int reads, const std::function<Every(int)>& wanted) {
  SimulationOptions options;
  options.ranks = kRanks;
  options.ranks_per_node = kRanks;
  const auto report = run_simulated(options, [&](Comm& comm) {
    const auto session = open_line(comm, borrow(memory));
    for (int i = 0; i < reads; ++i) {
      EXPECT_TRUE(read_line(*session, wanted(comm.rank())).ok());
      EXPECT_EQ(session->file().accounts.report().useful_bytes, (i + 1) * kRanks * wanted(0).count * 8);
    }
    EXPECT_TRUE(session->abandon().ok());
  });
  EXPECT_TRUE(report.ok());
  return report->total().messages_sent;
}

TEST(EarlyReads, OfCloseOrLongPiecesMeetOnce) {
  for (const bool in_chunks : {false, true}) {
    storage::MemoryDriver memory;
    write_line(memory, in_chunks);
    for (const int64_t step : {1, 2, 7}) {
      const auto rows = [&](int rank) { return own_rows(rank, step); };
      const int64_t without = messages_of(memory, 0, rows);
      EXPECT_EQ(messages_of(memory, 3, rows) - without, 3 * kMessagesOfAMeeting) << "step " << step;
    }
  }
}

TEST(EarlyReads, OfOtherPiecesWaitForAPlan) {
  storage::MemoryDriver memory;
  write_line(memory, false);
  EXPECT_GT(messages_of(memory, 1, dealt_out) - messages_of(memory, 0, dealt_out), 2 * kMessagesOfAMeeting);
}

TEST(EarlyReads, OfNoPiecesBetweenOthersAreMadeByEachRank) {
  storage::MemoryDriver memory;
  write_line(memory, false);
  Setting four;
  four.ranks = kRanks;
  on_ranks(four, [&](Comm& comm) {
    const auto session = open_line(comm, borrow(memory));
    EXPECT_TRUE(read_line(*session, own_rows(comm.rank(), 50)).ok());
    EXPECT_EQ(session->file().accounts.report().method, "list_io") << session->file().accounts.report().reason;
    EXPECT_TRUE(read_line(*session, dealt_out(comm.rank())).ok());
    EXPECT_EQ(session->file().accounts.report().method, "two_phase") << session->file().accounts.report().reason;
  });
}

// Some ranks have read before the others know how, in one call.
TEST(EarlyReads, AreMadeBesideOthers) {
  storage::MemoryDriver memory;
  write_line(memory, false);
  Setting four;
  four.ranks = kRanks;
  for (unsigned early = 0; early < 1U << kRanks; ++early) {
    on_ranks(four, [&](Comm& comm) {
      const auto session = open_line(comm, borrow(memory));
      const bool is_early = (early >> comm.rank() & 1U) != 0;
      EXPECT_TRUE(read_line(*session, is_early ? own_rows(comm.rank(), 2) : dealt_out(comm.rank())).ok());
      EXPECT_TRUE(read_line(*session, comm.rank() == 2 ? Every() : own_rows(comm.rank(), 3)).ok()) << "one reads nothing";
    });
  }
}

// Whatever the others have read, they hear of the failure, and all can go on.
TEST(EarlyReads, FailOnEveryRankAlike) {
  storage::MemoryDriver memory;
  write_line(memory, false);
  const auto alone = make_self_comm();
  const auto session_alone = open_line(*alone, borrow(memory));
  const int64_t data_offset = session_alone->file().catalog[line_of(*session_alone)].data_offset;
  Setting four;
  four.ranks = kRanks;
  for (int failing = 0; failing < kRanks; ++failing) {
    for (const bool are_others_early : {true, false}) {
      std::set<std::string> messages;
      on_ranks(four, [&](Comm& comm) {
        const bool fails = comm.rank() == failing;
        const Every rows = own_rows(comm.rank(), 2);
        const int64_t begin = data_offset + rows.first * 8;
        const std::string fault = "read:range=" + std::to_string(begin) + "-" + std::to_string(begin + 8) + ":errno=EIO";
        const auto script = storage::FaultScript::parse(fault, comm.rank()).value();
        const auto faulty = std::make_shared<storage::FaultDriver>(borrow(memory), script);
        const auto session = open_line(comm, fails ? faulty : borrow(memory));
        const Status status = read_line(*session, fails || are_others_early ? rows : dealt_out(comm.rank()));
        EXPECT_EQ(status.code(), ErrorCode::kIo) << status.message();
        messages.insert(status.message());
        EXPECT_TRUE(read_line(*session, rows).ok()) << "the next call doesn't fail";
      });
      ASSERT_EQ(messages.size(), 1u);
      EXPECT_EQ(messages.begin()->rfind("rank " + std::to_string(failing) + ": ", 0), 0u) << *messages.begin();
    }
  }
}

}  // namespace
}  // namespace stria::file::test
