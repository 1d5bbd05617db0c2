#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "clock/clock.hpp"
#include "run/run.hpp"
#include "store/range_locks.hpp"

namespace stria::simulate {
namespace {

const bench::WorkloadKind& kind_of(const std::string& name) {
  const auto& kinds = bench::workload_kinds();
  return *std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
}

RunOptions small_flash(const std::string& through) {
  RunOptions options;
  options.kind = &kind_of("flash");
  options.chosen = options.kind->standards();
  options.chosen.numbers["blocks"] = 3;
  options.chosen.numbers["nvar"] = 4;
  options.ranks = 24;
  options.through = through;
  return options;
}

RunOptions options_of(const std::string& workload, int ranks, const std::string& through) {
  RunOptions options;
  options.kind = &kind_of(workload);
  options.chosen = options.kind->standards();
  options.ranks = ranks;
  options.through = through;
  return options;
}

/// Returns a file of its own for each rank, in one call of `kib` KiB.
RunOptions separate_files(int ranks, int kib, const std::string& stripes) {
  RunOptions options = options_of("ior", ranks, "own-file");
  options.chosen.words["files"] = "separate";
  options.chosen.numbers["block-kib"] = kib;
  options.hints = {{"striping_factor", stripes}};
  return options;
}

/// Ways that replay which rank moves what, without bytes.
bool is_a_pattern(const Way& way) {
  return way.name == "romio" || way.name == "sieving" || way.name == "rank-zero";
}

TEST(Machines, HaveASourceForEachNumber) {
  ASSERT_FALSE(known_machines().empty());
  for (const std::string& name : known_machines()) {
    const auto machine = find_machine(name);
    ASSERT_TRUE(machine.ok()) << name << ": " << machine.status().message();
    EXPECT_EQ(machine->name, name);
    EXPECT_GT(machine->sources.size(), 10U);
  }
}

TEST(Machines, RefuseWhatIsNoNumberOfTheirs) {
  const std::string begin = R"({"name": "m", "title": "t", )";
  EXPECT_TRUE(parse_machine(begin + R"("servers": {"count": [3, "a paper"]}})").ok());
  for (const char* rest :
       {R"("servers": {"count": 3}})", R"("servers": {"count": [3, ""]}})", R"("servers": {"counts": [3, "a"]}})",
        R"("servers": {"count": [0, "a"]}})", R"("server": {}})", R"("locks": {"scope": "page"}})"}) {
    const auto machine = parse_machine(begin + rest);
    EXPECT_EQ(machine.status().code(), ErrorCode::kFormat) << rest;
  }
  const auto unknown = find_machine("no such machine");
  EXPECT_EQ(unknown.status().code(), ErrorCode::kNotFound);
  EXPECT_NE(unknown.status().message().find("jaguar"), std::string::npos);
}

TEST(Machines, TakeOtherNumbers) {
  const std::vector<std::string> changes{"servers.count=3", "servers.jitter=0"};
  const auto machine = find_machine("jaguar", changes);
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  EXPECT_EQ(machine->servers.count, 3);
  EXPECT_EQ(machine->servers.jitter, 0);
  EXPECT_EQ(machine->sources.at("servers.count"), "asked for");
  for (const char* wrong : {"servers.count", "count=3", "servers.count=x", "servers.count=3x"}) {
    const std::vector<std::string> entry{wrong};
    EXPECT_EQ(find_machine("jaguar", entry).status().code(), ErrorCode::kInvalidArgument) << wrong;
  }
  const std::vector<std::string> unknown{"servers.counts=3"};
  EXPECT_EQ(find_machine("jaguar", unknown).status().code(), ErrorCode::kFormat);
}

TEST(RangeLocks, GiveTheFirstAllAndTheNextWhatIsUnused) {
  RangeLocks locks(10);
  EXPECT_EQ(locks.take(1, {100, 115}).grants, 1);
  EXPECT_EQ(locks.take(1, {500, 600}).grants, 0);  // it has everything behind
  const auto second = locks.take(2, {700, 710});
  EXPECT_EQ(second.grants, 1);
  EXPECT_EQ(second.revocations, 1);
  EXPECT_EQ(locks.take(1, {600, 700}).grants, 0);  // up to there it kept its range
  EXPECT_EQ(locks.take(2, {900, 910}).grants, 0);
  EXPECT_EQ(locks.take(3, {0, 10}).revocations, 0);
}

TEST(RangeLocks, GoBackAndForthWhereClientsShareAUnit) {
  RangeLocks locks(100);
  locks.take(1, {0, 50});
  EXPECT_EQ(locks.take(2, {50, 100}).revocations, 1);
  EXPECT_EQ(locks.take(1, {0, 50}).revocations, 1);
  EXPECT_EQ(locks.take(1, {10, 90}).grants, 0);
}

TEST(RangeLocks, AreFlushedWhereTheHolderHasUsedThem) {
  RangeLocks locks(10);
  locks.take(1, {0, 100});
  EXPECT_EQ(locks.take(2, {100, 200}).flushes, 0);  // unused so far
  EXPECT_EQ(locks.take(3, {150, 160}).flushes, 1);
  EXPECT_EQ(locks.take(1, {0, 300}).flushes, 2);
}

TEST(Forwarders, ServeRunsOfRanksInTurn) {
  Forwarders forwarders;
  forwarders.ranks = 8;
  EXPECT_EQ(forwarder_of(forwarders, 9, 16), 1);
  forwarders.run = 2;
  std::vector<int> served;
  for (int rank = 0; rank < 8; ++rank) {
    served.push_back(forwarder_of(forwarders, rank, 16));
  }
  EXPECT_EQ(served, (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
}

// A list of 64 regions is answered before the next one is asked for, so that it saves waits.
TEST(Simulation, WaitsForEachListOfWrites) {
  Machine machine = find_machine("chiba").value();
  RunOptions options;
  options.kind = &kind_of("cyclic");
  options.chosen = options.kind->standards();
  options.chosen.numbers["mib"] = 1;
  options.chosen.numbers["accesses"] = 640;
  options.ranks = 2;
  options.through = "alone";
  for (const auto& [method, waits] : {std::pair{"multiple", 640}, {"list_io", 10}}) {
    options.hints = {{"stria_method", method}};
    EXPECT_GE(run(machine, options).value().seconds, waits * machine.servers.write_wait_s) << method;
    EXPECT_LT(run(machine, options).value().seconds, 2 * waits * machine.servers.write_wait_s) << method;
  }
}

TEST(Simulation, CarriesEveryByteToItsPlace) {
  for (const std::string& name : known_machines()) {
    Machine machine = find_machine(name).value();
    machine.nodes.ranks_per_node = std::min(machine.nodes.ranks_per_node, 4);
    for (const Way& way : ways()) {
      if (is_a_pattern(way)) {
        continue;
      }
      RunOptions options = small_flash(way.name);
      options.carries_data = true;
      options.reads = true;
      const auto outcome = run(machine, options);
      ASSERT_TRUE(outcome.ok()) << name << ", " << way.name << ": " << outcome.status().message();
      EXPECT_EQ(outcome->useful_bytes, int64_t{24} * 3 * 4 * 512 * 8);
      EXPECT_GE(outcome->store.bytes, outcome->useful_bytes);
    }
  }
}

// Windows of different ranks overlap, and each is read, changed and written back under a lock.
TEST(Simulation, SievesWritesWithoutUndoingOthers) {
  const Machine machine = find_machine("jaguar").value();
  RunOptions options;
  options.kind = &kind_of("block3d");
  options.chosen = options.kind->standards();
  options.chosen.numbers["cells"] = 32;
  options.ranks = 8;
  options.through = "alone";
  options.carries_data = true;
  options.hints = {{"stria_method", "data_sieving"}, {"ind_wr_buffer_size", "16384"}};
  const RunOutcome sieved = run(machine, options).value();
  EXPECT_EQ(sieved.method, "data_sieving");
  EXPECT_GT(sieved.store.bytes, 2 * sieved.useful_bytes) << "read and written, with what lies between";
  options.hints = {{"stria_method", "multiple"}};
  EXPECT_EQ(run(machine, options).value().store.bytes, sieved.useful_bytes);
}

// Rows of 64 bytes in planes of 4 KiB: a window of two planes is read as a whole, but for the last
// one, which ends with the last row: 4096 + 15 * 128 + 64 bytes.
TEST(Simulation, SievesWholeWindowsAsRomioDoes) {
  const Machine machine = find_machine("jaguar").value();
  RunOptions options = options_of("block3d", 8, "sieving");
  options.chosen.numbers["cells"] = 32;
  options.hints = {{"ind_wr_buffer_size", "8192"}, {"ind_rd_buffer_size", "8192"}};
  constexpr int64_t kOfARank = 7 * 8192 + 6080;
  const RunOutcome written = run(machine, options).value();
  const std::map<int64_t, int64_t> sizes{{6080, 8}, {8192, 8 * 7}};
  EXPECT_EQ(written.store.write_sizes, sizes);
  options.reads = true;
  const RunOutcome read = run(machine, options).value();
  EXPECT_EQ(read.store.bytes, 8 * kOfARank);
  EXPECT_LT(read.seconds, written.seconds / 4) << "ranks that read share the lock";
  options.carries_data = true;
  EXPECT_EQ(run(machine, options).status().code(), ErrorCode::kUnsupported);
}

TEST(Simulation, TakesTheSameTimeWhetherBytesTravelOrDescriptions) {
  const Machine machine = find_machine("jaguar").value();
  for (const Way& way : ways()) {
    if (is_a_pattern(way)) {
      continue;
    }
    RunOptions options = small_flash(way.name);
    const RunOutcome described = run(machine, options).value();
    options.carries_data = true;
    const RunOutcome carried = run(machine, options).value();
    EXPECT_EQ(described.seconds, carried.seconds) << way.name;
    EXPECT_EQ(described.events, carried.events) << way.name;
    EXPECT_EQ(described.traffic.bytes, carried.traffic.bytes) << way.name;
  }
}

TEST(Simulation, RepeatsByItsSeed) {
  const Machine machine = find_machine("jaguar").value();
  RunOptions options = small_flash("library");
  const double first = run(machine, options).value().seconds;
  EXPECT_EQ(run(machine, options).value().seconds, first);
  options.seed = 2;
  EXPECT_NE(run(machine, options).value().seconds, first);
}

TEST(Simulation, WritesAllOfItAsRomioDoes) {
  const Machine machine = find_machine("intrepid").value();
  for (const char* aggregators : {"1", "5", "24"}) {
    RunOptions options = small_flash("romio");
    options.chosen.words["calls"] = "variable";
    options.hints = {{"cb_nodes", aggregators}, {"cb_buffer_size", "65536"}, {"stria_file_domains", "even"}};
    const RunOutcome outcome = run(machine, options).value();
    EXPECT_EQ(outcome.store.bytes, outcome.useful_bytes);
    EXPECT_EQ(outcome.aggregators, std::stoi(aggregators));
  }
  RunOptions options = small_flash("romio");
  options.carries_data = true;
  EXPECT_EQ(run(machine, options).status().code(), ErrorCode::kUnsupported);
}

// Ten blocks of the file system for two aggregators, with a part of one before and behind.
TEST(Simulation, DealsOutWholeBlocksAsRomioOnBlueGene) {
  RunOptions options = options_of("ior", 2, "romio");
  options.chosen.numbers["block-kib"] = 18 << 10;
  options.chosen.numbers["transfer-kib"] = 18 << 10;
  options.hints = {{"cb_nodes", "2"}};
  const RunOutcome outcome = run(find_machine("intrepid").value(), options).value();
  constexpr int64_t kBlock = 4 << 20, kHeader = 4096;
  const std::map<int64_t, int64_t> sizes{{kHeader, 1}, {kBlock - kHeader, 1}, {4 * kBlock, 2}};
  EXPECT_EQ(outcome.store.write_sizes, sizes);
}

TEST(Simulation, CallsNobodyBackWhereLocksAreNotKept) {
  Machine machine = find_machine("jaguar").value();
  RunOptions options = options_of("cyclic", 4, "alone");
  options.chosen.numbers["mib"] = 1;
  options.chosen.numbers["accesses"] = 256;
  options.hints = {{"stria_method", "multiple"}};
  const RunOutcome given_up = run(machine, options).value();
  EXPECT_EQ(given_up.store.revocations, 0);
  EXPECT_EQ(given_up.store.grants, given_up.store.requests);
  machine.locks.kept = 1;
  const RunOutcome kept = run(machine, options).value();
  EXPECT_GT(kept.store.revocations, 0);  // ranks share pages
}

// flock() knows no ranges: windows that don't overlap wait for each other all the same.
TEST(Simulation, LocksTheFileWhereLocksKnowNoRanges) {
  Machine machine = find_machine("jaguar").value();
  RunOptions options = options_of("block3d", 8, "alone");
  options.chosen.numbers["cells"] = 32;
  // Each window is on a server of its own.
  options.hints = {{"stria_method", "data_sieving"}, {"ind_wr_buffer_size", "8192"}, {"striping_unit", "8192"}};
  machine.metadata.object_on_server_s = 0;
  const RunOutcome whole = run(machine, options).value();
  machine.locks.whole_file = 0;
  const RunOutcome ranges = run(machine, options).value();
  EXPECT_GT(whole.seconds, 1.5 * ranges.seconds);
}

TEST(Simulation, NeedsNoSeekWithinTheWriteCache) {
  Machine machine = find_machine("jaguar").value();
  RunOptions options = options_of("cyclic", 4, "alone");
  options.chosen.numbers["mib"] = 1;
  options.chosen.numbers["accesses"] = 256;
  options.hints = {{"stria_method", "multiple"}};
  EXPECT_EQ(run(machine, options).value().store.seeks, 0);
  machine.servers.write_cache_bytes = 0;
  EXPECT_GT(run(machine, options).value().store.seeks, 100);
}

TEST(Simulation, MakesTheObjectsOfAFileServerByServer) {
  Machine machine = find_machine("jaguar").value();
  machine.servers.random_first = 0;
  RunOptions options = separate_files(1, 4, "100");
  const double object_s = machine.metadata.object_on_server_s;
  EXPECT_GT(run(machine, options).value().open_s, 100 * object_s);
  options.ranks = 64;
  options.hints["striping_factor"] = "8";
  const double balanced_s = run(machine, options).value().open_s;
  options.hints["start_iodevice"] = "0";
  EXPECT_GT(run(machine, options).value().open_s, 64 * object_s);
  EXPECT_LT(balanced_s, 64 * object_s);
}

// All processes ask at once, so that the last creation is the first that nobody waits behind.
TEST(Simulation, MakesFilesMoreSlowlyInACrowd) {
  Machine machine = find_machine("jaguar").value();
  machine.metadata.crowd = 8;
  RunOptions options = separate_files(64, 4, "1");
  double creations = 1;  // the first is being made when the others come
  for (int waiting = 63; waiting > 0; --waiting) {
    creations += std::max(1.0, waiting / machine.metadata.crowd);
  }
  const double creation_s = machine.metadata.create_s + machine.metadata.object_s;
  EXPECT_NEAR(run(machine, options).value().metadata_s, creations * creation_s, 1e-9);
  options.ranks = 8;
  EXPECT_NEAR(run(machine, options).value().metadata_s, 8 * creation_s, 1e-9);
}

// Where a machine has no such number, or fewer wait, all that waits costs as before.
TEST(Simulation, IsTheSameBelowACrowd) {
  Machine machine = find_machine("jaguar").value();
  const RunOptions options = separate_files(64, 64, "1");
  machine.metadata.crowd = 0;
  const double without_s = run(machine, options).value().seconds;
  machine.metadata.crowd = 64;
  EXPECT_EQ(run(machine, options).value().seconds, without_s);
}

TEST(Simulation, GathersEveryPieceAtRankZero) {
  RunOptions options = options_of("convection", 8, "rank-zero");
  options.chosen.words["output"] = "data";
  const RunOutcome outcome = run(find_machine("sp").value(), options).value();
  // Six arrays of 256 rows of 2 KiB in blocks of 2 x 4 ranks, of which one is rank 0's own.
  EXPECT_EQ(outcome.traffic.messages, 6 * (256 * 4 - 128) * 2);
  const std::map<int64_t, int64_t> sizes{{1 << 20, 3}};
  EXPECT_EQ(outcome.store.write_sizes, sizes);
}

// Packing in one rank overlaps with writes of others, unless all make each dataset together.
TEST(Simulation, WaitsForEachDatasetOfHdf5) {
  const Machine machine = find_machine("chiba_myrinet").value();
  RunOptions options = small_flash("alone");
  options.chosen.words["calls"] = "variable";
  const double alone_s = run(machine, options).value().seconds;
  options.through = "hdf5";
  EXPECT_GT(run(machine, options).value().seconds, alone_s);
}

TEST(Simulation, ChargesTheEnginesWorkForEachPiece) {
  Machine machine = find_machine("jaguar").value();
  machine.servers.jitter = 0;
  RunOptions options = options_of("cyclic", 1, "library");
  options.chosen.numbers["mib"] = 1;
  options.chosen.numbers["accesses"] = 1024;
  options.hints = {{"stria_method", "two_phase"}};
  const double without_s = run(machine, options).value().seconds;
  machine.nodes.write_piece_s = 1e-3;
  const double stretch_s = run(machine, options).value().seconds - without_s;
  options.ranks = 2;
  machine.nodes.write_piece_s = 0;
  const double two_s = run(machine, options).value().seconds;
  machine.nodes.write_piece_s = 1e-3;
  const double pieces_s = run(machine, options).value().seconds - two_s;
  EXPECT_LT(stretch_s, 0.01) << "one rank's turns are one stretch";
  EXPECT_NEAR(pieces_s, 1.024, 0.1) << "each of two ranks has as many pieces";
}

// The sum of what the servers can take is never exceeded, and large requests come near it.
TEST(Simulation, KeepsWithinTheServersRate) {
  Machine machine = find_machine("jaguar").value();
  machine.servers.jitter = 0;
  RunOptions options;
  options.kind = &kind_of("ior");
  options.chosen = options.kind->standards();
  options.ranks = 32;
  options.hints = {{"striping_factor", "1"}};
  options.through = "alone";
  const RunOutcome outcome = run(machine, options).value();
  const double seconds = static_cast<double>(outcome.useful_bytes) / machine.servers.write_rate;
  EXPECT_GE(outcome.seconds, seconds);
  EXPECT_GE(outcome.busiest_server_s, seconds);
}

}  // namespace
}  // namespace stria::simulate
