// Contributions along the axes of grids of any number of rows, on simulated ranks, against a file
// that is written byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "access/failing_new_test.hpp"
#include "access/plan/axes_costs.hpp"
#include "access/random_case_test.hpp"
#include "access/together/axes/by_axes.hpp"
#include "access/together/axes/parcels.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr const char* kPath = "data";

/// Says what each rank had in the end.
struct Outcome {
  Status run;
  std::vector<Moved> moved;
  std::vector<std::vector<Bytes>> received;
  int64_t allocations = 0;
};

struct How {
  bool write = true;
  std::string faults = {};
  int64_t failing_allocation = -1;
};

// Chooses odd numbers of rows too, and more rows than aggregators.
int rows_of(const Case& c) {
  return 1 + static_cast<int>(c.seed / 5 % (c.plan.aggregators.size() + 1));
}

Outcome run_case(const Case& c, storage::MemoryDriver& memory, const How& how) {
  Outcome outcome;
  outcome.moved.resize(c.ranks.size());
  outcome.received.resize(c.ranks.size());
  const std::shared_ptr<storage::Driver> shared(std::shared_ptr<void>(), &memory);
  fail_allocation(how.failing_allocation);
  auto report = run_simulated(c.simulation, [&](Comm& inner) {
    SureComm comm(inner);
    const auto rank = static_cast<size_t>(comm.rank());
    std::shared_ptr<storage::Driver> driver = shared;
    if (!how.faults.empty()) {
      driver = std::make_shared<storage::FaultDriver>(shared, storage::FaultScript::parse(how.faults, comm.rank()).value());
    }
    const storage::OpenOptions open{.mode = storage::OpenOptions::Mode::kReadWrite};
    StrictFile cached(driver->open(kPath, open).value(), false, c.native_list);
    StrictFile direct(driver->open(kPath, open).value(), true, c.native_list);
    PhaseTimes times;
    Context context{comm, &cached, c.hints, times};
    CaseSource source(c.ranks[rank]);
    CaseSink sink(c.ranks[rank]);
    KeptBuffers kept;
    const ByAxes by{.rows = rows_of(c), .direct_file = c.direct ? &direct : nullptr, .kept = c.direct ? nullptr : &kept};
    {
      Counting on(how.failing_allocation >= 0);
      outcome.moved[rank] = move_by_axes(context, c.plan, c.ranks[rank].lanes,
                                         how.write ? Endpoint::of_write(source) : Endpoint::of_read(sink), by);
    }
    outcome.received[rank] = sink.received();
  });
  outcome.run = report.status();
  outcome.allocations = allocation_count();
  return outcome;
}

Case case_of(uint64_t seed) {
  Case c = make_case(first_seed() + 70'000'000 + seed);
  c.plan.stripe_count = 1;
  return c;
}

std::string describe(const Case& c) {
  return "seed " + std::to_string(c.seed) + ", " + std::to_string(c.simulation.ranks) + " ranks, " +
         std::to_string(c.simulation.ranks_per_node) + " a node, " + std::to_string(c.plan.aggregators.size()) +
         " aggregators, " + std::to_string(rows_of(c)) + " rows";
}

int64_t bytes_of(const RankCase& rank) {
  return total_bytes(rank.lanes);
}

void expect_one_outcome(const Outcome& outcome) {
  ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();  // otherwise: a deadlock
  for (const Moved& moved : outcome.moved) {
    ASSERT_EQ(moved.status.code(), outcome.moved[0].status.code());
    ASSERT_EQ(moved.status.message(), outcome.moved[0].status.message());
  }
}

TEST(Axes, WritesEqualTheOracle) {
  for (int i = 0; i < case_count(500); ++i) {
    const Case c = case_of(static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    set_content(memory, kPath, c.before);
    const Outcome outcome = run_case(c, memory, {});
    ASSERT_NO_FATAL_FAILURE(expect_one_outcome(outcome));
    ASSERT_TRUE(outcome.moved[0].status.ok()) << outcome.moved[0].status.message();
    ASSERT_TRUE(content_of(memory, kPath) == c.after);
    for (size_t rank = 0; rank < c.ranks.size(); ++rank) {
      ASSERT_EQ(outcome.moved[rank].bytes, bytes_of(c.ranks[rank]));
    }
  }
}

TEST(Axes, ReadsEqualTheOracleUpToTheEndOfTheFile) {
  for (int i = 0; i < case_count(500); ++i) {
    Case c = case_of(static_cast<uint64_t>(i) + 10'000);
    if (i % 4 == 0) {  // the same bytes to all ranks
      c.ranks.assign(c.ranks.size(), c.ranks[static_cast<size_t>(i) % c.ranks.size()]);
    }
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    Bytes content = c.after;
    content.resize(i % 3 == 0 ? content.size() * static_cast<size_t>(i % 11) / 11 : content.size());
    set_content(memory, kPath, content);
    const Outcome outcome = run_case(c, memory, {.write = false});
    ASSERT_NO_FATAL_FAILURE(expect_one_outcome(outcome));
    ASSERT_TRUE(outcome.moved[0].status.ok()) << outcome.moved[0].status.message();
    for (size_t rank = 0; rank < c.ranks.size(); ++rank) {
      ASSERT_EQ(outcome.moved[rank].bytes <= prefix_received(c.ranks[rank], outcome.received[rank]), true);
      const bool whole = outcome.moved[rank].bytes == bytes_of(c.ranks[rank]);
      ASSERT_TRUE(whole || i % 3 == 0);
      ASSERT_TRUE(!whole || outcome.received[rank] == c.ranks[rank].packed) << "rank " << rank;
    }
  }
}

// What a rank has of a stream that the file's end cuts is all that the file has of it.
TEST(Axes, AReadGetsAllThatACutFileHas) {
  for (int i = 0; i < case_count(100); ++i) {
    const Case c = case_of(static_cast<uint64_t>(i) + 20'000);
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    Bytes content = c.after;
    content.resize(content.size() / 2);
    set_content(memory, kPath, content);
    const Outcome outcome = run_case(c, memory, {.write = false});
    ASSERT_NO_FATAL_FAILURE(expect_one_outcome(outcome));
    for (size_t rank = 0; rank < c.ranks.size(); ++rank) {
      for (size_t stream = 0; stream < c.ranks[rank].packed.size(); ++stream) {
        for (size_t at = 0; at < c.ranks[rank].packed[stream].size(); ++at) {
          const bool is_there = c.ranks[rank].offsets[stream][at] < static_cast<int64_t>(content.size());
          ASSERT_TRUE(!is_there || outcome.received[rank][stream][at] == c.ranks[rank].packed[stream][at])
              << "rank " << rank << ", stream " << stream << ", byte " << at;
        }
      }
    }
  }
}

TEST(Axes, AFailureEndsEverywhereWithItsCause) {
  int failures = 0;
  for (int i = 0; i < case_count(400); ++i) {
    const Case c = case_of(static_cast<uint64_t>(i) + 30'000);
    SCOPED_TRACE(describe(c));
    storage::MemoryDriver memory;
    const bool write = i % 2 == 0;
    set_content(memory, kPath, write ? c.before : c.after);
    const int rank = c.plan.aggregators[c.seed % c.plan.aggregators.size()];
    const Outcome outcome = run_case(c, memory,
                                     {.write = write,
                                      .faults = std::string(write ? "write" : "read") + ":rank=" + std::to_string(rank) +
                                                ":nth=" + std::to_string(1 + i % 3) + ":errno=ENOSPC"});
    ASSERT_NO_FATAL_FAILURE(expect_one_outcome(outcome));
    const Status& status = outcome.moved[0].status;
    if (status.ok()) {
      continue;
    }
    ++failures;
    ASSERT_EQ(status.code(), ErrorCode::kNoSpace) << status.message();
    ASSERT_TRUE(c.ranks.size() == 1 || status.message().starts_with("rank " + std::to_string(rank) + ": ")) << status.message();
    const Bytes content = content_of(memory, kPath);
    for (size_t at = 0; write && at < content.size(); ++at) {
      ASSERT_TRUE(content[at] == c.before[at] || content[at] == c.after[at]) << "byte " << at;
    }
  }
  EXPECT_GT(failures, case_count(400) / 8);
}

TEST(Axes, ALackOfMemoryEndsEverywhere) {
  int failures = 0;
  for (int i = 0; i < case_count(24); ++i) {
    const Case c = case_of(static_cast<uint64_t>(i) + 40'000);
    storage::MemoryDriver memory;
    const bool write = i % 2 == 0;
    set_content(memory, kPath, write ? c.before : c.after);
    const int64_t allocations = run_case(c, memory, {.write = write, .failing_allocation = INT64_MAX}).allocations;
    const int64_t step = std::max<int64_t>(allocations / 12, 1);
    for (int64_t failing = i % step; failing < allocations; failing += step) {
      SCOPED_TRACE(describe(c) + ", allocation " + std::to_string(failing) + " of " + std::to_string(allocations));
      set_content(memory, kPath, write ? c.before : c.after);
      const Outcome outcome = run_case(c, memory, {.write = write, .failing_allocation = failing});
      ASSERT_NO_FATAL_FAILURE(expect_one_outcome(outcome));
      const Status& status = outcome.moved[0].status;
      if (status.ok()) {
        continue;  // The words of a status that nobody needed had no room.
      }
      ASSERT_EQ(status.code(), ErrorCode::kResourceExhausted) << status.message();
      ++failures;
    }
  }
  EXPECT_GT(failures, 4 * case_count(24));
}

TEST(Parcels, RefuseWhatIsNone) {
  std::vector<std::byte> message;
  const std::byte description[3] = {};
  append_parcel({.origin = 1, .column = 2, .description_bytes = 3, .payload_bytes = 5}, description, message);
  append_parcel({.origin = 0, .column = 0, .description_bytes = 0, .payload_bytes = 0}, {}, message);
  ASSERT_EQ(parcels_of(message, 2, 3)->size(), 2u);
  EXPECT_EQ(parcels_of(message, 2, 3)->at(0).payload.size(), 5u);
  EXPECT_EQ(parcels_of(message, 1, 3).status().code(), ErrorCode::kFormat) << "no such rank";
  EXPECT_EQ(parcels_of(message, 2, 2).status().code(), ErrorCode::kFormat) << "no such column";
  for (size_t bytes = 1; bytes < message.size(); ++bytes) {
    std::vector<std::byte> cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(bytes));
    const auto parcels = parcels_of(cut, 2, 3);
    EXPECT_TRUE(!parcels.ok() || bytes == sizeof(ParcelHeader) + 8) << bytes;
  }
  const auto refuses = [](ParcelHeader header) {
    std::vector<std::byte> one(sizeof header);
    std::copy_n(std::as_bytes(std::span(&header, 1)).data(), sizeof header, one.data());
    return !parcels_of(one, 2, 3).ok();
  };
  EXPECT_TRUE(refuses({.description_bytes = 1}));
  EXPECT_TRUE(refuses({.description_bytes = -1}));
  EXPECT_TRUE(refuses({.payload_bytes = INT64_MAX}));
  EXPECT_TRUE(refuses({.description_bytes = INT64_MIN, .payload_bytes = INT64_MAX}));
}

TEST(AxesCosts, AGridPaysForSmallBlocksThatAreDealtToManyNodes) {
  const auto rows = [](int64_t nodes, int64_t bytes_of_node) {
    return rows_that_pay(most_scattered(true, 16 * nodes, nodes, nodes, nodes * bytes_of_node));
  };
  EXPECT_EQ(rows(4, 64 << 10), 0);
  EXPECT_EQ(rows(1024, 64 << 10), 32) << "near the root of their number";
  EXPECT_GT(rows(256, 64 << 10), 0);
  EXPECT_EQ(rows(256, 16 << 20), 0) << "the bytes cost more than the messages";
  EXPECT_EQ(rows(1 << 20, 33 << 20), 0) << "a node would hold too much";
  // A node that meets few aggregators has no messages to save.
  AxesShape few = most_scattered(true, 4096, 256, 256, 256 << 16);
  few.met = 4;
  EXPECT_EQ(rows_that_pay(few), 0);
  // Sizes go to all columns, also to those of which a node meets no aggregator.
  AxesShape some = most_scattered(true, 16384, 1024, 1024, 1024 << 16);
  some.met = 61;
  for (size_t choice = 0; choice < AxesShape::kChoices; ++choice) {
    some.columns[choice] = columns_of_grid(some.met, rows_of_choice(choice));
  }
  EXPECT_EQ(rows_that_pay(some), 0);
}

}  // namespace
}  // namespace stria::access::test
