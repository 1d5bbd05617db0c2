// Runs of simulated ranks on nodes whose clocks are off by milliseconds and drift: recorded, merged
// and read back.
#include "comm/trace/trace_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "comm/simulated/simulated_comm.hpp"
#include "comm/trace/clock_sync.hpp"
#include "trace/events/kinds.hpp"
#include "trace/format/trace_file.hpp"

namespace stria {
namespace {

using trace::BuiltIn;
using trace::Record;
using trace::Recorder;

constexpr double kDriftMax = 1e-4;

/// A node's clock: off by up to 5 ms, and up to 100 parts in a million too fast or too slow.
struct SkewedClock {
  int64_t skew_ns = 0;
  double drift = 0;
  int64_t at(int64_t real_ns) const {
    static const int64_t start_ns = trace::monotonic_ns();
    return real_ns + skew_ns + static_cast<int64_t>(drift * static_cast<double>(real_ns - start_ns));
  }
  int64_t operator()() const { return at(trace::monotonic_ns()); }
};

SkewedClock clock_of(int node, uint64_t seed) {
  if (node == 0) {
    return {};
  }
  std::mt19937_64 random(seed * 1000 + static_cast<uint64_t>(node));
  SkewedClock clock;
  clock.skew_ns = std::uniform_int_distribution<int64_t>(-5'000'000, 5'000'000)(random);
  clock.drift = std::uniform_real_distribution<double>(-kDriftMax, kDriftMax)(random);
  return clock;
}

std::string fresh_directory(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() / ("stria_" + name + "_" + std::to_string(getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

/// Each rank sends to each other rank in turn, and both sides are recorded. The i-th message from a
/// to b is the i-th that b receives from a.
void exchange(Comm& comm, Recorder& recorder, int turns) {
  uint32_t id = 1;
  for (int turn = 0; turn < turns; ++turn) {
    for (int distance = 1; distance < comm.size(); distance *= 2) {
      const int to = (comm.rank() + distance) % comm.size();
      const int from = (comm.rank() - distance + comm.size()) % comm.size();
      int64_t out = turn;
      int64_t in = 0;
      Record sent, received;
      received.begin_ns = recorder.clock().now_ns();
      auto receive = comm.receive(std::as_writable_bytes(std::span(&in, 1)), from, 1);
      sent.begin_ns = recorder.clock().now_ns();
      auto send = comm.send(std::as_bytes(std::span(&out, 1)), to, 1);
      comm.wait(*receive);
      received.end_ns = recorder.clock().now_ns();
      comm.wait(*send);
      sent.end_ns = recorder.clock().now_ns();
      sent.kind = static_cast<uint16_t>(BuiltIn::kSend);
      sent.detail = to;
      sent.offset = received.offset = 1;
      sent.id = id++;
      received.kind = static_cast<uint16_t>(BuiltIn::kReceive);
      received.detail = from;
      received.id = id++;
      recorder.append_records(0, std::vector<Record>{sent, received});
    }
  }
}

struct Causality {
  int64_t messages = 0;
  int64_t violations = 0;
  int64_t worst_ns = 0;
};

Causality check_messages(const trace::TraceFile& file) {
  std::map<std::pair<int, int>, std::vector<const trace::Event*>> sends, receives;
  for (const trace::Event& event : file.events) {
    if (file.kinds[event.kind].name == "send") {
      sends[{event.rank, event.peer}].push_back(&event);
    } else if (file.kinds[event.kind].name == "receive") {
      receives[{event.peer, event.rank}].push_back(&event);
    }
  }
  Causality result;
  for (const auto& [pair, list] : sends) {
    const auto& arrived = receives[pair];
    EXPECT_EQ(arrived.size(), list.size());
    for (size_t i = 0; i < std::min(arrived.size(), list.size()); ++i) {
      ++result.messages;
      const int64_t early = list[i]->begin_ns - arrived[i]->end_ns;
      result.violations += early > 0 ? 1 : 0;
      result.worst_ns = std::max(result.worst_ns, early);
    }
  }
  return result;
}

class TraceRunTest : public testing::TestWithParam<int> {};

TEST_P(TraceRunTest, NoMessageArrivesBeforeItWasSent) {
  const int ranks = GetParam();
  const uint64_t seed = 20 + static_cast<uint64_t>(ranks);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string directory = fresh_directory("trace_run");
  SimulationOptions options;
  options.ranks = ranks;
  options.ranks_per_node = std::clamp(ranks / 2, 1, 4);
  options.seed = seed;
  constexpr int kTurns = 20;
  std::string path;
  const auto report = run_simulated(options, [&](Comm& comm) {
    Recorder recorder;
    recorder.clock().set(clock_of(comm.node_of_rank()[static_cast<size_t>(comm.rank())], seed));
    auto run = begin_trace_run(comm, recorder, {trace::Level::kFull, directory});
    ASSERT_TRUE(run.ok()) << run.status().message();
    exchange(comm, recorder, kTurns);
    const Status finished = finish_trace_run(comm, recorder, *run);
    ASSERT_TRUE(finished.ok()) << finished.message();
    path = run->path;
  });
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto file = trace::TraceFile::read(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->warnings.empty()) << file->warnings[0];
  ASSERT_EQ(file->rank_count(), ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const trace::RankInfo& info = file->ranks[static_cast<size_t>(rank)];
    EXPECT_TRUE(info.complete);
    EXPECT_EQ(info.node, rank / options.ranks_per_node);
    EXPECT_GE(info.clock_error_ns, 0);
  }
  const Causality found = check_messages(*file);
  int distances = 0;
  for (int distance = 1; distance < ranks; distance *= 2) {
    ++distances;
  }
  EXPECT_EQ(found.messages, int64_t{ranks} * distances * kTurns);
  EXPECT_EQ(found.violations, 0) << "of " << found.messages << ", by up to " << found.worst_ns << " ns";
  // Nothing but the file is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  std::filesystem::remove_all(directory);
}

INSTANTIATE_TEST_SUITE_P(Ranks, TraceRunTest, testing::Values(1, 2, 3, 7, 16, 64));

// The test above relies on this: without correction the same messages arrive before they were sent.
TEST(Clocks, UncorrectedSkewBreaksCausality) {
  const std::string directory = fresh_directory("trace_skew");
  SimulationOptions options;
  options.ranks = 8;
  options.ranks_per_node = 4;
  std::vector<std::byte> bytes;
  trace::append_header(bytes);
  const auto report = run_simulated(options, [&](Comm& comm) {
    Recorder recorder;
    recorder.clock().set(clock_of(comm.rank() / options.ranks_per_node, 5));
    trace::RankHeader header;
    header.rank = comm.rank();
    header.rank_count = comm.size();
    recorder.identify(header);
    exchange(comm, recorder, 5);
    recorder.end_part();
    const auto part = recorder.read_part(0, 1 << 30);
    ASSERT_TRUE(part.ok());
    bytes.insert(bytes.end(), part->begin(), part->end());
  });
  ASSERT_TRUE(report.ok());
  const auto file = trace::TraceFile::parse(bytes);
  ASSERT_TRUE(file.ok());
  EXPECT_GT(check_messages(*file).violations, 0);
}

// The offsets are right within the error that the measurement states.
TEST(Clocks, ComparedWithinTheStatedError) {
  SimulationOptions options;
  options.ranks = 13;
  options.ranks_per_node = 1;
  const auto report = run_simulated(options, [&](Comm& comm) {
    const SkewedClock mine = clock_of(comm.rank(), 9);
    const int64_t begin_ns = trace::monotonic_ns();
    const auto samples = compare_clocks(comm, mine);
    ASSERT_EQ(samples.empty(), comm.rank() == 0);
    if (!samples.empty()) {
      const SkewedClock theirs = clock_of(samples[0].reference_rank, 9);
      // Both clocks get one reading: a thread that is stopped between two would find them apart.
      const int64_t now_ns = trace::monotonic_ns();
      const int64_t truth = theirs.at(now_ns) - mine.at(now_ns);
      const auto drifted_ns = static_cast<int64_t>(2 * kDriftMax * static_cast<double>(now_ns - begin_ns));
      EXPECT_LE(std::abs(samples[0].offset_ns - truth), samples[0].round_trip_ns + drifted_ns + 1);
    }
  });
  ASSERT_TRUE(report.ok());
}

}  // namespace
}  // namespace stria
