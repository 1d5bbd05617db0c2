// Every method, reading and writing, independent and collective, over every driver, on simulated
// ranks under random schedules, against a file that is written byte by byte. STRIA_TEST_CASES
// says how many.
#include "access/move.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "access/random_case_test.hpp"
#include "access/shared_file_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/memory/memory_driver.hpp"
#include "storage/registry/registry.hpp"

namespace stria::access::test {
namespace {

constexpr Method kMethods[] = {Method::kAutomatic,   Method::kMultiple, Method::kListIo,  Method::kDatatypeIo,
                               Method::kDataSieving, Method::kHybrid,   Method::kTwoPhase};

/// A random case, and how it is moved.
struct Scenario {
  Case c;
  Method method = Method::kAutomatic;
  bool collective = false;
  std::string driver = "memory";
};

Scenario make_scenario(uint64_t seed) {
  Scenario scenario{make_case(seed)};
  scenario.method = kMethods[seed % std::size(kMethods)];
  scenario.collective = seed / std::size(kMethods) % 2 == 0;
  ResolvedHints& hints = scenario.c.hints;
  hints.method = scenario.method;
  hints.axes = seed / 3 % 8 == 0 ? Switch::kEnable : Switch::kAutomatic;
  // 0: as many as the planner thinks.
  hints.aggregator_count = static_cast<int>(seed % 5);
  // What windows of a node may serve, or what several nodes gather.
  if (scenario.collective && scenario.c.ranks[0].lanes.size() == 1) {
    const bool one_node = seed / 13 % 2 == 0;
    hints.aggregator_count = one_node ? 0 : hints.aggregator_count;
    scenario.c.simulation.ranks_per_node = one_node ? scenario.c.simulation.ranks : 1 + static_cast<int>(seed % 2);
    scenario.method = hints.method = seed % 3 == 0 ? scenario.method : Method::kTwoPhase;
  } else if (seed % 3 == 0) {
    hints.mimic_stripe_count = scenario.c.plan.stripe_count;
    hints.mimic_stripe_bytes = std::max<int64_t>(scenario.c.plan.unit_bytes, 100);
  }
  if (seed / 7 % 7 == 0) {
    hints.domains = ResolvedHints::Domains::kEven;
  }
  return scenario;
}

std::string describe(const Scenario& scenario) {
  return "STRIA_TEST_SEED=" + std::to_string(scenario.c.seed) + " STRIA_TEST_CASES=1: " + method_name(scenario.method) +
         (scenario.collective ? ", collective, " : ", independent, ") + std::to_string(scenario.c.simulation.ranks) +
         " ranks, " + scenario.driver;
}

// Operations that went through the windows of a node, and those for which all requests were
// gathered: they must not be left out by chance.
int windows_used = 0;
int gathered_used = 0;

/// Says what all ranks saw.
struct Results {
  Status run;
  std::vector<MoveReport> outcomes;
  std::vector<Status> agreed;  ///< independent outcomes as comm.agree() puts them together
  LockTable locks;
};

/// The file of one test: in memory, or on a disk as long as this lives.
class TestPlace {
 public:
  explicit TestPlace(const std::string& driver_name) {
    if (driver_name == "memory") {
      driver = std::make_shared<storage::MemoryDriver>();
      return;
    }
    auto made = storage::make_driver(driver_name);
    if (!made.ok()) {
      return;
    }
    driver = *made;
    path = (std::filesystem::current_path() / ("stria-transfer-" + std::to_string(getpid()))).string();
    remove_ = true;
  }
  TestPlace(const TestPlace&) = delete;
  TestPlace& operator=(const TestPlace&) = delete;
  ~TestPlace() {
    if (remove_) {
      std::filesystem::remove(path);
    }
  }
  std::shared_ptr<storage::Driver> driver;
  std::string path = "data";

 private:
  bool remove_ = false;
};

/// Collective where the scenario is, with buffers that are kept from one move to the next.
class Mover {
 public:
  Mover(Context& context, const RankCase& rank, bool collective) : context_(context), rank_(rank), collective_(collective) {}
  MoveReport write() {
    CaseSource source(rank_);
    return move(Endpoint::of_write(source));
  }
  MoveReport read(StreamSink& sink) { return move(Endpoint::of_read(sink)); }
  const RankCase& rank() const { return rank_; }
  int number() const { return context_.comm.rank(); }

 private:
  MoveReport move(Endpoint endpoint) {
    const Coordination how = collective_ ? Coordination(Collectively{&kept_}) : Coordination(Independently());
    return access::move(context_, rank_.lanes, endpoint, how);
  }
  Context& context_;
  const RankCase& rank_;
  bool collective_;
  Kept kept_;
};

using Move = std::function<MoveReport(Mover&)>;

void run(const Scenario& scenario, TestPlace& place, const std::string& faults, const Move& move, Results& results) {
  const Case& c = scenario.c;
  results.outcomes.resize(c.ranks.size());
  results.agreed.resize(c.ranks.size());
  auto report = run_simulated(c.simulation, [&](Comm& comm) {
    auto rank = static_cast<size_t>(comm.rank());
    std::shared_ptr<storage::Driver> driver = place.driver;
    if (!faults.empty()) {
      driver = std::make_shared<storage::FaultDriver>(driver, storage::FaultScript::parse(faults, comm.rank()).value());
    }
    SharedFile file(driver->open(place.path, {.mode = storage::OpenOptions::Mode::kReadWrite}).value(), comm, results.locks,
                    c.native_list);
    PhaseTimes times;
    Context context{comm, &file, c.hints, times};
    Mover mover(context, c.ranks[rank], scenario.collective);
    results.outcomes[rank] = move(mover);
    results.agreed[rank] = comm.agree(results.outcomes[rank].status);
  });
  results.run = report.status();
  const std::string& reason = results.outcomes[0].reason;
  windows_used += reason.ends_with("windows that the node shares") ? 1 : 0;
  gathered_used += reason.ends_with("every rank knows all requests") ? 1 : 0;
}

int64_t packed_bytes(const RankCase& rank) {
  return total_bytes(rank.lanes);
}

void check_write(const Scenario& scenario) {
  SCOPED_TRACE(describe(scenario));
  TestPlace place(scenario.driver);
  if (place.driver == nullptr) {
    GTEST_SKIP() << "no " << scenario.driver << " here";
  }
  set_content(*place.driver, place.path, scenario.c.before);
  Results results;
  // Twice, so that kept buffers are used again.
  run(
      scenario, place, "",
      [](Mover& mover) {
        MoveReport first = mover.write();
        return first.status.ok() ? mover.write() : first;
      },
      results);
  ASSERT_TRUE(results.run.ok()) << results.run.message();
  for (size_t rank = 0; rank < results.outcomes.size(); ++rank) {
    ASSERT_TRUE(results.outcomes[rank].status.ok()) << results.outcomes[rank].status.message();
    ASSERT_EQ(results.outcomes[rank].bytes, packed_bytes(scenario.c.ranks[rank]));
    ASSERT_FALSE(results.outcomes[rank].reason.empty());
  }
  Bytes content = content_of(*place.driver, place.path);
  ASSERT_EQ(content.size(), scenario.c.after.size());
  auto [at, other] = std::mismatch(content.begin(), content.end(), scenario.c.after.begin());
  ASSERT_TRUE(at == content.end()) << "byte " << at - content.begin() << ", " << results.outcomes[0].reason;
  ASSERT_TRUE(results.locks.held.empty());
}

/// Remembers what was unpacked.
class WatchfulSink : public StreamSink {
 public:
  explicit WatchfulSink(const RankCase& rank) : rank_(rank) {
    for (const Bytes& packed : rank.packed) {
      received.emplace_back(packed.size(), kUntouched);
    }
  }
  void unpack(std::span<const StreamPart> parts) override {
    for (const StreamPart& part : parts) {
      std::copy(part.packed, part.packed + (part.end - part.begin),
                received.at(static_cast<size_t>(part.stream_id)).begin() + part.begin);
    }
  }
  std::byte* straight_target(int stream_id) override {
    return rank_.straight[static_cast<size_t>(stream_id)] ? received[static_cast<size_t>(stream_id)].data() : nullptr;
  }
  static constexpr std::byte kUntouched{0xEE};
  std::vector<Bytes> received;

 private:
  const RankCase& rank_;
};

void check_read(const Scenario& scenario, size_t file_bytes) {
  SCOPED_TRACE(describe(scenario) + ", file of " + std::to_string(file_bytes));
  TestPlace place(scenario.driver);
  if (place.driver == nullptr) {
    GTEST_SKIP() << "no " << scenario.driver << " here";
  }
  Bytes content = scenario.c.after;
  content.resize(file_bytes);
  set_content(*place.driver, place.path, content);
  std::vector<std::vector<Bytes>> received(scenario.c.ranks.size());
  Results results;
  run(
      scenario, place, "",
      [&](Mover& mover) {
        WatchfulSink sink(mover.rank());
        MoveReport report = mover.read(sink);
        received[static_cast<size_t>(mover.number())] = std::move(sink.received);
        return report;
      },
      results);
  ASSERT_TRUE(results.run.ok()) << results.run.message();
  for (size_t r = 0; r < received.size(); ++r) {
    const RankCase& rank = scenario.c.ranks[r];
    ASSERT_TRUE(results.outcomes[r].status.ok()) << results.outcomes[r].status.message();
    int64_t there = 0;  // before the first byte that is not
    bool is_prefix = true;
    for (size_t s = 0; s < rank.packed.size(); ++s) {
      for (size_t i = 0; i < rank.packed[s].size(); ++i) {
        bool in_file = rank.offsets[s][i] < static_cast<int64_t>(file_bytes);
        is_prefix = is_prefix && in_file;
        there += is_prefix ? 1 : 0;
        ASSERT_EQ(received[r][s][i], in_file ? rank.packed[s][i] : WatchfulSink::kUntouched)
            << "rank " << r << ", stream " << s << ", byte " << i;
      }
    }
    ASSERT_EQ(results.outcomes[r].bytes, there) << "rank " << r;
  }
}

TEST(Transfer, WritesEqualTheOracle) {
  for (int i = 0; i < case_count(900); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_write(make_scenario(first_seed() + static_cast<uint64_t>(i))));
  }
  EXPECT_GT(windows_used, case_count(900) / 50);
  EXPECT_GE(gathered_used, case_count(900) / 100);
}

TEST(Transfer, ReadsEndWhereTheFileEnds) {
  windows_used = gathered_used = 0;
  for (int i = 0; i < case_count(900); ++i) {
    Scenario scenario = make_scenario(first_seed() + 10'000'000 + static_cast<uint64_t>(i));
    size_t whole = scenario.c.after.size();
    size_t file_bytes = i % 2 == 0 ? whole : scenario.c.seed * 7919 % (whole + 1);
    ASSERT_NO_FATAL_FAILURE(check_read(scenario, file_bytes));
  }
  EXPECT_GT(windows_used, case_count(900) / 50);
  EXPECT_GE(gathered_used, case_count(900) / 100);
}

TEST(Transfer, RealFiles) {
  for (const char* driver : {"posix", "uring"}) {
    for (int i = 0; i < case_count(60); ++i) {
      Scenario scenario = make_scenario(first_seed() + 20'000'000 + static_cast<uint64_t>(i));
      scenario.driver = driver;
      ASSERT_NO_FATAL_FAILURE(check_write(scenario));
      ASSERT_NO_FATAL_FAILURE(check_read(scenario, scenario.c.after.size() * static_cast<size_t>(i % 3) / 2));
    }
  }
}

/// Says which rank(s) a fault hits, when, and how.
std::string fault_of(const Scenario& scenario, const char* operation, const char* error) {
  uint64_t seed = scenario.c.seed;
  std::string where = seed % 4 == 0 ? "" : ":rank=" + std::to_string(seed % scenario.c.ranks.size());
  return std::string(operation) + where + ":nth=" + std::to_string(1 + seed % 3) + ":count=" + (seed % 2 == 0 ? "1" : "all") +
         ":errno=" + error;
}

TEST(Transfer, AFailedWriteTellsEveryoneAndCountsTruly) {
  int failures = 0;
  for (int i = 0; i < case_count(700); ++i) {
    Scenario scenario = make_scenario(first_seed() + 30'000'000 + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(scenario));
    TestPlace place("memory");
    set_content(*place.driver, place.path, scenario.c.before);
    const char* operation = scenario.c.seed % 11 == 0 ? "lock" : scenario.c.seed % 5 == 0 ? "read" : "write";
    Results results;
    run(
        scenario, place, fault_of(scenario, operation, i % 2 == 0 ? "ENOSPC" : "EIO"),
        [](Mover& mover) { return mover.write(); }, results);
    ASSERT_TRUE(results.run.ok()) << results.run.message();
    ASSERT_TRUE(results.locks.held.empty()) << "a lock was left behind";
    bool failed = !results.agreed[0].ok();
    failures += failed ? 1 : 0;
    Bytes content = content_of(*place.driver, place.path);
    for (size_t r = 0; r < results.outcomes.size(); ++r) {
      const MoveReport& outcome = results.outcomes[r];
      if (scenario.collective) {
        ASSERT_EQ(outcome.status.message(), results.outcomes[0].status.message());
        ASSERT_EQ(outcome.status.code(), failed ? (i % 2 == 0 ? ErrorCode::kNoSpace : ErrorCode::kIo) : ErrorCode::kOk);
      }
      ASSERT_LE(outcome.bytes, prefix_in_file(scenario.c.ranks[r], content)) << "rank " << r;
      if (outcome.status.ok()) {
        ASSERT_EQ(outcome.bytes, packed_bytes(scenario.c.ranks[r]));
      }
    }
  }
  EXPECT_GT(failures, case_count(700) / 8);
}

TEST(Transfer, AFailedReadTellsEveryone) {
  int failures = 0;
  for (int i = 0; i < case_count(400); ++i) {
    Scenario scenario = make_scenario(first_seed() + 40'000'000 + static_cast<uint64_t>(i));
    SCOPED_TRACE(describe(scenario));
    TestPlace place("memory");
    set_content(*place.driver, place.path, scenario.c.after);
    Results results;
    run(
        scenario, place, fault_of(scenario, "read", "EIO"),
        [](Mover& mover) {
          WatchfulSink sink(mover.rank());
          MoveReport report = mover.read(sink);
          EXPECT_LE(report.bytes, prefix_received(mover.rank(), sink.received));
          return report;
        },
        results);
    ASSERT_TRUE(results.run.ok()) << results.run.message();
    failures += results.agreed[0].ok() ? 0 : 1;
    for (const MoveReport& outcome : results.outcomes) {
      if (scenario.collective) {
        ASSERT_EQ(outcome.status.message(), results.outcomes[0].status.message());
      }
    }
  }
  EXPECT_GT(failures, case_count(400) / 8);
}

// Several ranks write the same pieces, with holes between: sizes that add up to the window are no
// proof that it is full.
TEST(Transfer, OverlappingWritersLeaveHolesAlone) {
  for (Method method : kMethods) {
    for (bool native_list : {false, true}) {
      Scenario scenario{make_case(1)};
      scenario.c.simulation = {.ranks = 2, .ranks_per_node = 2};
      scenario.method = scenario.c.hints.method = method;
      scenario.c.hints.sieve_writes = Switch::kAutomatic;
      scenario.c.native_list = native_list;
      scenario.collective = true;
      RankCase rank;
      Stream stream{0, Datatype::hvector(1000, 1, 8, Datatype::bytes(4)).value(), 0};
      rank.lanes.push_back({{0, 0}, 0, {stream}});
      rank.packed.emplace_back(4000, std::byte{7});
      rank.offsets.emplace_back();
      for (int64_t i = 0; i < 4000; ++i) {
        rank.offsets[0].push_back(i / 4 * 8 + i % 4);
      }
      rank.straight.push_back(false);
      scenario.c.ranks = {rank, rank};
      scenario.c.before.assign(9000, std::byte{1});
      scenario.c.after = scenario.c.before;
      for (int64_t at : rank.offsets[0]) {
        scenario.c.after[static_cast<size_t>(at)] = std::byte{7};
      }
      ASSERT_NO_FATAL_FAILURE(check_write(scenario));
    }
  }
}

// One rank has a long stretch, two have short pieces that interleave, one has nothing.
Scenario scenario_of_mixed_lengths() {
  constexpr int64_t kLong = 64 << 10;
  constexpr int64_t kShort = 8;
  constexpr int64_t kCount = 1000;
  Scenario scenario{make_case(1)};
  scenario.c.simulation = {.ranks = 4, .ranks_per_node = 4};
  scenario.c.hints = {};
  scenario.c.native_list = false;
  scenario.collective = true;
  scenario.c.before.assign(kLong + 2 * kShort * kCount, std::byte{1});
  scenario.c.after = scenario.c.before;
  scenario.c.ranks.assign(4, {});
  for (int64_t r = 0; r < 4; ++r) {
    RankCase& rank = scenario.c.ranks[static_cast<size_t>(r)];
    rank.lanes.emplace_back();
    if (r == 3) {
      continue;
    }
    rank.lanes[0].streams.push_back(
        r == 0
            ? Stream{0, Datatype::bytes(kLong), 0}
            : Stream{0, Datatype::hvector(kCount, 1, 2 * kShort, Datatype::bytes(kShort)).value(), kLong + (r - 1) * kShort});
    const int64_t bytes = r == 0 ? kLong : kCount * kShort;
    rank.straight.push_back(r != 1);
    rank.offsets.emplace_back();
    for (int64_t i = 0; i < bytes; ++i) {
      rank.offsets[0].push_back(r == 0 ? i : kLong + (i / kShort * 2 + r - 1) * kShort + i % kShort);
      scenario.c.after[static_cast<size_t>(rank.offsets[0].back())] = static_cast<std::byte>(i * 7 + r);
    }
    rank.packed.emplace_back();
    for (const int64_t at : rank.offsets[0]) {
      rank.packed[0].push_back(scenario.c.after[static_cast<size_t>(at)]);
    }
  }
  return scenario;
}

TEST(Transfer, LongPiecesWaitForNobodyAndShortOnesGoTogether) {
  const Scenario scenario = scenario_of_mixed_lengths();
  ASSERT_NO_FATAL_FAILURE(check_write(scenario));
  ASSERT_NO_FATAL_FAILURE(check_read(scenario, scenario.c.after.size()));
  TestPlace place("memory");
  set_content(*place.driver, place.path, scenario.c.before);
  Results results;
  run(
      scenario, place, "", [](Mover& mover) { return mover.write(); }, results);
  EXPECT_EQ(results.outcomes[0].method, Method::kListIo);
  for (size_t rank = 1; rank < 4; ++rank) {
    EXPECT_EQ(results.outcomes[rank].method, Method::kTwoPhase) << results.outcomes[rank].reason;
  }
}

TEST(Transfer, ALongPieceThatFailsStopsTheShortOnes) {
  const Scenario scenario = scenario_of_mixed_lengths();
  TestPlace place("memory");
  set_content(*place.driver, place.path, scenario.c.before);
  Results results;
  run(
      scenario, place, "write:rank=0:errno=ENOSPC", [](Mover& mover) { return mover.write(); }, results);
  ASSERT_TRUE(results.run.ok()) << results.run.message();
  for (const MoveReport& outcome : results.outcomes) {
    EXPECT_EQ(outcome.status.code(), ErrorCode::kNoSpace) << outcome.status.message();
    EXPECT_EQ(outcome.status.message(), results.outcomes[0].status.message());
    EXPECT_EQ(outcome.bytes, 0);
  }
  EXPECT_EQ(content_of(*place.driver, place.path), scenario.c.before);
}

}  // namespace
}  // namespace stria::access::test
