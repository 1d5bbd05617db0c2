#include "access/plan/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "access/plan/aggregators.hpp"
#include "access/plan/server_costs.hpp"
#include "comm/self/self_comm.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria::access {
namespace {

constexpr RequestShape kLongPieces{int64_t{100} << 20, 100};
constexpr RequestShape kShortPieces{int64_t{100} << 20, 1 << 20};

/// Returns the plan that all ranks of a simulated machine make; they must agree.
Plan plan_on(int ranks, int ranks_per_node, const RequestShape& shape, const storage::Capabilities& capabilities = {},
             const ResolvedHints& hints = {}) {
  std::vector<Plan> plans(static_cast<size_t>(ranks));
  auto report = run_simulated({.ranks = ranks, .ranks_per_node = ranks_per_node}, [&](Comm& comm) {
    plans[static_cast<size_t>(comm.rank())] = make_plan(shape, capabilities, hints, comm);
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
  for (const Plan& plan : plans) {
    EXPECT_EQ(plan.method(), plans[0].method());
    EXPECT_EQ(plan.way.index(), plans[0].way.index());
    EXPECT_TRUE(std::ranges::equal(plan.aggregators(), plans[0].aggregators()));
  }
  return plans[0];
}

TEST(Planner, TheShapeAndTheMachineDecide) {
  EXPECT_EQ(plan_on(1, 1, kShortPieces).method(), Method::kListIo);
  EXPECT_EQ(plan_on(4, 4, kLongPieces).method(), Method::kListIo);
  EXPECT_EQ(plan_on(4, 4, kShortPieces).method(), Method::kTwoPhase);
  EXPECT_EQ(plan_on(4, 2, kLongPieces).method(), Method::kListIo) << "containers on one machine";
  EXPECT_EQ(plan_on(4, 2, kShortPieces).method(), Method::kTwoPhase);
  EXPECT_EQ(plan_on(4, 4, {}).method(), Method::kListIo);
  storage::Capabilities servers;
  servers.node_local_cache = false;
  EXPECT_EQ(plan_on(4, 4, kLongPieces, servers).method(), Method::kTwoPhase);
  EXPECT_EQ(plan_on(4, 2, kLongPieces, servers).method(), Method::kTwoPhase);
}

TEST(Planner, AGridOfNodesIsThoughtOfWhereItCanPay) {
  const auto axes = [](int ranks, const RequestShape& shape, const ResolvedHints& hints = {}) {
    return plan_on(ranks, 2, shape, {}, hints).as<ThroughAggregators>()->axes;
  };
  const RequestShape little{.total_bytes = 256 << 14, .piece_count = 1 << 20};
  EXPECT_EQ(axes(512, little), Switch::kAutomatic) << "the ranks find out whether it does";
  EXPECT_EQ(axes(8, little), Switch::kDisable) << "few nodes";
  EXPECT_EQ(axes(512, {.total_bytes = int64_t{64} << 30, .piece_count = 1 << 30}), Switch::kDisable) << "many bytes";
  ResolvedHints hints;
  hints.axes = Switch::kDisable;
  EXPECT_EQ(axes(512, little, hints), Switch::kDisable);
  hints.axes = Switch::kEnable;
  EXPECT_EQ(axes(8, little, hints), Switch::kEnable);
  hints.mimic_stripe_count = 4;
  hints.mimic_stripe_bytes = 4096;
  EXPECT_EQ(axes(8, little, hints), Switch::kDisable) << "stripes are dealt out";
}

TEST(Planner, OneLongStretchOfEachRankNeedsNoExchange) {
  const RequestShape stretches{4 * (int64_t{64} << 10), 4, true, false};
  storage::Capabilities servers;
  servers.node_local_cache = false;
  EXPECT_EQ(plan_on(4, 2, stretches, servers).method(), Method::kListIo);
  EXPECT_EQ(plan_on(4, 1, stretches, servers).method(), Method::kListIo);
  RequestShape more = stretches;
  more.piece_count = 5;
  EXPECT_EQ(plan_on(4, 2, more, servers).method(), Method::kTwoPhase) << "they may be interleaved";
  const RequestShape short_ones{4 * (int64_t{1} << 10), 4, true, false};
  EXPECT_EQ(plan_on(4, 2, short_ones, servers).method(), Method::kTwoPhase);
  servers.lock_unit_bytes = 1 << 20;
  EXPECT_EQ(plan_on(4, 2, stretches, servers).method(), Method::kTwoPhase) << "nodes would take each other's locks";
  RequestShape reading = stretches;
  reading.write = false;
  EXPECT_EQ(plan_on(4, 2, reading, servers).method(), Method::kListIo);
  servers.caches_apart = true;
  EXPECT_EQ(plan_on(4, 2, reading, servers).method(), Method::kTwoPhase);
}

TEST(Planner, ShortPiecesThatLieCloseAreReadWithTheirGaps) {
  const storage::Capabilities disk;
  RequestShape strided{.total_bytes = 8000, .piece_count = 1000, .write = false, .in_lockstep = true, .span_bytes = 7 * 8000};
  EXPECT_EQ(plan_on(4, 4, strided, disk).method(), Method::kListIo);
  strided.span_bytes = 100 * 8000;
  EXPECT_EQ(plan_on(4, 4, strided, disk).method(), Method::kTwoPhase) << "most of it is others'";
  strided.region_bytes = 100 * 8000;
  EXPECT_EQ(plan_on(4, 4, strided, disk).method(), Method::kListIo) << "none of it is others'";
  strided.region_bytes -= 8;
  EXPECT_EQ(plan_on(4, 4, strided, disk).method(), Method::kTwoPhase) << "ranks' pieces are interleaved";
  strided.region_bytes = 0;
  strided.span_bytes = 7 * 8000;
  strided.write = true;
  EXPECT_EQ(plan_on(4, 4, strided, disk).method(), Method::kTwoPhase) << "writes are joined";
  IndependentShape own{.write = false, .bytes = 8000, .piece_count = 1000, .span_bytes = 56000, .list_entries = 1};
  EXPECT_TRUE(sieves_reads(own, disk, {}));
  ResolvedHints hints;
  hints.sieve_reads = Switch::kDisable;
  EXPECT_FALSE(sieves_reads(own, disk, hints));
  EXPECT_FALSE(sieves_reads(own, {.node_local_cache = false}, {})) << "a server";
  own.span_bytes = own.bytes;
  EXPECT_FALSE(sieves_reads(own, disk, {})) << "one stretch";
  own = {.write = false, .bytes = 1 << 20, .piece_count = 4, .span_bytes = 2 << 20, .list_entries = 1};
  EXPECT_FALSE(sieves_reads(own, disk, {})) << "long pieces";
}

TEST(Planner, ReadsThatAnyPlanWouldLeaveToTheirRankAreMadeAtOnce) {
  const storage::Capabilities disk;
  RequestShape own{.total_bytes = 8000, .piece_count = 1000, .write = false, .in_lockstep = true, .span_bytes = 7 * 8000};
  EXPECT_TRUE(reads_at_once(own, disk, {}));
  EXPECT_FALSE(reads_at_once(own, {.node_local_cache = false}, {})) << "a server";
  ResolvedHints hints;
  hints.sieve_reads = Switch::kDisable;
  EXPECT_FALSE(reads_at_once(own, disk, hints));
  hints = {};
  hints.collective_read = Switch::kEnable;
  EXPECT_FALSE(reads_at_once(own, disk, hints));
  own.span_bytes = 100 * 8000;
  EXPECT_FALSE(reads_at_once(own, disk, {})) << "other ranks may want what lies between";
  own.piece_count = 1;
  own.total_bytes = own.span_bytes = 1 << 20;
  hints = {};
  hints.sieve_reads = Switch::kDisable;
  EXPECT_TRUE(reads_at_once(own, disk, hints)) << "a long piece";
  own.total_bytes = own.span_bytes = 0;
  EXPECT_FALSE(reads_at_once(own, disk, {})) << "nothing";
}

TEST(Planner, ServersThatTakeListsGetThoseOfOneNode) {
  storage::Capabilities servers;
  servers.node_local_cache = false;
  servers.stripe_count = 4;
  servers.stripe_bytes = 256 << 10;
  RequestShape pieces{.total_bytes = 1000 * 200, .piece_count = 1000, .in_lockstep = true};
  EXPECT_EQ(plan_on(4, 4, pieces, servers).method(), Method::kTwoPhase) << "a request a piece";
  servers.native_list = true;
  EXPECT_EQ(plan_on(4, 4, pieces, servers).method(), Method::kListIo);
  EXPECT_EQ(plan_on(4, 2, pieces, servers).method(), Method::kTwoPhase) << "several nodes";
  const RequestShape tiny{.total_bytes = 1000 * 8, .piece_count = 1000, .in_lockstep = true};
  EXPECT_EQ(plan_on(4, 4, tiny, servers).method(), Method::kTwoPhase) << "the list is longer than the pieces";
  EXPECT_EQ(plan_on(4, 4, tiny, {.native_list = true}).method(), Method::kTwoPhase) << "no servers";
  pieces.in_lockstep = false;
  EXPECT_EQ(plan_on(4, 4, pieces, servers).method(), Method::kTwoPhase) << "one lane, whose buffers stay";
}

/// Returns the collective request of ranks that have one piece in turn each, up to the end of a
/// file of so many bytes.
RequestShape in_turn(int ranks, int64_t file_bytes, int64_t piece_bytes, bool write, const storage::Capabilities& servers) {
  const IndependentShape own{.write = write,
                             .bytes = file_bytes / ranks,
                             .piece_count = file_bytes / ranks / piece_bytes,
                             .span_bytes = file_bytes,
                             .list_entries = 1};
  return {.total_bytes = file_bytes,
          .piece_count = ranks * own.piece_count,
          .write = write,
          .hull_bytes = file_bytes,
          .server_cost_bytes = ranks * server_cost_bytes(own, servers)};
}

// The experiments of docs/performance.md, with the method that was the quickest there.
TEST(Planner, ServersThatTakeDatatypesAreAskedByEachRankWhereAnExchangeCostsMore) {
  const storage::Capabilities servers{.stripe_bytes = 16 << 10,
                                      .stripe_count = 8,
                                      .striped_as_told = true,
                                      .native_list = true,
                                      .native_types = true,
                                      .node_local_cache = false};
  const auto method = [&](const RequestShape& shape, int ranks_per_node = 8) {
    return plan_on(8, ranks_per_node, shape, servers).method();
  };
  constexpr int64_t kBytes = 16 << 20;
  for (const bool write : {true, false}) {
    EXPECT_EQ(method(in_turn(8, kBytes, 4192, write, servers)), Method::kListIo);
    EXPECT_EQ(method(in_turn(8, kBytes, 208, write, servers)), Method::kTwoPhase) << "eight ranks in each block";
    EXPECT_EQ(method(in_turn(8, kBytes, 8, write, servers)), Method::kTwoPhase);
    EXPECT_EQ(method(in_turn(8, kBytes, 208, write, servers), 1), Method::kListIo) << "exchanged through links";
    EXPECT_EQ(plan_on(2, 2, in_turn(2, kBytes, 416, write, servers), servers).method(), Method::kListIo);
  }
  EXPECT_EQ(method(in_turn(8, kBytes, 2096, true, servers)), Method::kTwoPhase) << "half of the pieces lie in two blocks";
  EXPECT_EQ(method(in_turn(8, kBytes, 2096, false, servers)), Method::kListIo);
  EXPECT_EQ(plan_on(2, 2, in_turn(2, kBytes, 40, true, servers), servers).method(), Method::kTwoPhase);
  EXPECT_EQ(plan_on(2, 2, in_turn(2, kBytes, 40, false, servers), servers).method(), Method::kListIo);
  EXPECT_EQ(plan_on(2, 2, in_turn(2, kBytes, 8, true, servers), servers).method(), Method::kTwoPhase);
  EXPECT_EQ(plan_on(2, 2, in_turn(2, kBytes, 8, false, servers), servers).method(), Method::kListIo)
      << "an exchange costs something for each piece";
  RequestShape everybody_all = in_turn(1, kBytes, 416, false, servers);
  for (int64_t* sum : {&everybody_all.total_bytes, &everybody_all.piece_count, &everybody_all.server_cost_bytes}) {
    *sum *= 8;
  }
  EXPECT_EQ(method(everybody_all), Method::kTwoPhase) << "the same bytes for each rank";
  storage::Capabilities lists = servers;
  lists.native_types = false;
  EXPECT_EQ(in_turn(8, kBytes, 2096, true, lists).server_cost_bytes, 0);
  EXPECT_EQ(plan_on(8, 8, in_turn(8, kBytes, 2096, true, lists), lists).method(), Method::kTwoPhase);
  IndependentShape listed{.bytes = kBytes, .piece_count = 100, .span_bytes = kBytes, .list_entries = 100};
  const int64_t by_list = server_cost_bytes(listed, servers);
  listed.list_entries = 1;
  EXPECT_GT(by_list, server_cost_bytes(listed, servers)) << "a list is longer than a description";
}

TEST(Planner, RanksOfSeveralNodesGoAtOnceWhereNoExchangeCouldHelp) {
  RequestShape own{.total_bytes = 64 << 10, .piece_count = 1, .write = true, .apart = true};
  storage::Capabilities servers;
  servers.node_local_cache = false;
  EXPECT_TRUE(goes_at_once(own, servers, {}));
  servers.lock_unit_bytes = 1 << 20;
  EXPECT_FALSE(goes_at_once(own, servers, {})) << "others may lie in the same unit";
  own.write = false;
  EXPECT_TRUE(goes_at_once(own, servers, {})) << "readers share units";
  servers.caches_apart = true;
  EXPECT_FALSE(goes_at_once(own, servers, {}));
  own.total_bytes = 8;
  EXPECT_FALSE(goes_at_once(own, {.node_local_cache = false}, {})) << "short";
  EXPECT_TRUE(goes_at_once(own, {}, {})) << "no server is asked";
  own.apart = false;
  EXPECT_FALSE(goes_at_once(own, {}, {})) << "pieces that an exchange could join";
}

TEST(Planner, ARankOfANodeWritesAtOnceWhatServersTakeForLessThanAnExchange) {
  const storage::Capabilities servers{.native_list = true, .native_types = true, .node_local_cache = false};
  RequestShape own{.total_bytes = 4 << 20, .piece_count = 1000, .windows = true, .server_cost_bytes = 2 << 20};
  EXPECT_TRUE(goes_at_once(own, servers, {}));
  own.server_cost_bytes = 5 << 20;
  EXPECT_FALSE(goes_at_once(own, servers, {})) << "an exchange leaves whole blocks";
  own.server_cost_bytes = 2 << 20;
  own.write = false;
  EXPECT_FALSE(goes_at_once(own, servers, {})) << "others may want the same bytes";
  own.write = true;
  own.windows = false;
  EXPECT_FALSE(goes_at_once(own, servers, {})) << "several nodes";
}

// The lengths are those of the table in docs/performance.md.
TEST(Planner, WindowsOfANodeServePiecesUpToALengthThatTheStorageSets) {
  storage::Capabilities memory;
  storage::Capabilities disk;
  disk.reserving_pays = true;
  const auto pieces_of = [](int64_t bytes, bool write) {
    return RequestShape{
        .total_bytes = 1000 * bytes, .piece_count = 1000, .write = write, .hull_bytes = 1000 * bytes, .windows = true};
  };
  const auto windows = [&](const RequestShape& shape, const storage::Capabilities& capabilities) {
    const Plan plan = plan_on(4, 4, shape, capabilities);
    const bool serve = plan.as<ThroughWindows>() != nullptr;
    EXPECT_EQ(plan.method(), serve ? Method::kTwoPhase : Method::kListIo);
    EXPECT_EQ(goes_at_once(shape, capabilities, {}), !serve) << "the same for a rank alone";
    return serve;
  };
  EXPECT_TRUE(windows(pieces_of(4 << 10, true), memory));
  EXPECT_FALSE(windows(pieces_of(8 << 10, true), memory));
  EXPECT_TRUE(windows(pieces_of(32 << 10, true), disk));
  EXPECT_FALSE(windows(pieces_of(64 << 10, true), disk));
  EXPECT_TRUE(windows(pieces_of(4 << 10, false), disk));
  EXPECT_FALSE(windows(pieces_of(32 << 10, false), disk)) << "a read makes no file grow";
  RequestShape sparse = pieces_of(32 << 10, true);
  sparse.hull_bytes *= 100;
  EXPECT_EQ(plan_on(4, 4, sparse, disk).method(), Method::kListIo) << "too far apart for windows";
  ResolvedHints hints;
  hints.collective_write = Switch::kEnable;
  EXPECT_FALSE(goes_at_once(pieces_of(1 << 20, true), memory, hints));
  hints.collective_write = Switch::kDisable;
  EXPECT_TRUE(goes_at_once(pieces_of(8, true), memory, hints));
  EXPECT_FALSE(goes_at_once({0, 0, true, false, 0, true}, memory, {})) << "nothing to move";
}

TEST(Planner, HintsComeFirst) {
  ResolvedHints hints;
  hints.method = Method::kTwoPhase;
  hints.collective_write = Switch::kDisable;
  EXPECT_EQ(plan_on(1, 1, kLongPieces, {}, hints).method(), Method::kTwoPhase);
  hints.method = Method::kAutomatic;
  EXPECT_EQ(plan_on(4, 2, kShortPieces, {}, hints).method(), Method::kListIo);
  RequestShape reading = kShortPieces;
  reading.write = false;
  // The hint is about writing.
  EXPECT_EQ(plan_on(4, 2, reading, {}, hints).method(), Method::kTwoPhase);
  hints.collective_read = Switch::kDisable;
  EXPECT_EQ(plan_on(4, 2, reading, {}, hints).method(), Method::kListIo);
  hints.collective_write = Switch::kEnable;
  EXPECT_EQ(plan_on(4, 4, kLongPieces, {}, hints).method(), Method::kTwoPhase);
}

TEST(Planner, NodesOfSeveralRanksSpeakThroughOne) {
  ResolvedHints hints;
  const auto gathers = [&](int ranks, int ranks_per_node, const std::string& why) {
    Plan plan = plan_on(ranks, ranks_per_node, kShortPieces, {}, hints);
    EXPECT_TRUE(plan.reason.ends_with(why)) << plan.reason;
    return plan.as<ThroughAggregators>()->gather_on_nodes;
  };
  EXPECT_TRUE(gathers(4, 2, "ranks of a node speak through one of them to each aggregator elsewhere"));
  EXPECT_TRUE(gathers(4, 3, "ranks of a node speak through one of them to each aggregator elsewhere"));
  EXPECT_FALSE(gathers(4, 1, "ranks speak for themselves: one a node"));
  EXPECT_FALSE(gathers(4, 4, "pieces are short")) << "one node";
  hints.shared_memory = Switch::kDisable;
  EXPECT_FALSE(gathers(4, 2, "ranks speak for themselves: hint stria_shared_memory"));
}

/// Returns how a write of that shape uses storage with these capabilities.
StorageUse use_of(RequestShape shape, bool durable, const storage::Capabilities& capabilities,
                  const ResolvedHints& hints = {}) {
  shape.durable = durable;
  return plan_storage(shape, capabilities, hints);
}

TEST(Planner, MuchDurableDataGoPastThePageCache) {
  storage::Capabilities capabilities;
  EXPECT_FALSE(use_of(kLongPieces, true, capabilities).direct);  // not offered
  capabilities.direct_align_bytes = 4096;
  EXPECT_TRUE(use_of(kLongPieces, true, capabilities).direct);
  EXPECT_FALSE(use_of(kLongPieces, false, capabilities).direct);
  const RequestShape little{1 << 20, 1};
  EXPECT_FALSE(use_of(little, true, capabilities).direct);
  ResolvedHints hints;
  hints.direct = Switch::kEnable;
  EXPECT_TRUE(use_of(little, true, capabilities, hints).direct);
  RequestShape reading = kLongPieces;
  reading.write = false;
  EXPECT_FALSE(use_of(reading, true, capabilities, hints).direct);
  hints.direct = Switch::kDisable;
  EXPECT_FALSE(use_of(kLongPieces, true, capabilities, hints).direct);
}

TEST(Planner, WhatIsWorthMovingInsteadOfARequest) {
  storage::Capabilities remote;
  remote.node_local_cache = false;
  const int64_t a_request = request_cost_bytes(remote);
  remote.native_list = true;
  EXPECT_GT(request_cost_bytes({}), request_cost_bytes(remote)) << "a list of a server's has room for another piece";
  EXPECT_GT(a_request, request_cost_bytes({})) << "a round trip costs more than a system call";
}

TEST(Planner, ARankByItself) {
  const IndependentShape dense{true, 8000, 1000, 16000};
  const IndependentShape whole{true, 8000, 1, 8000};
  const auto method = [](const IndependentShape& shape, const storage::Capabilities& able, const ResolvedHints& hints,
                         bool may) {
    IndependentPlan plan = plan_independent(shape, able, hints, may);
    EXPECT_FALSE(plan.reason.empty());
    return plan.method;
  };
  storage::Capabilities local;
  storage::Capabilities lists;
  lists.native_list = true;
  EXPECT_EQ(method(whole, local, {}, true), Method::kListIo);
  EXPECT_EQ(method(dense, local, {}, true), Method::kHybrid);
  EXPECT_EQ(method(dense, local, {}, false), Method::kListIo) << "nothing keeps others out";
  EXPECT_EQ(method(dense, lists, {}, true), Method::kListIo);
  storage::Capabilities types = lists;
  types.native_types = true;
  IndependentShape listed = dense;
  listed.list_entries = listed.piece_count;
  EXPECT_EQ(method(dense, types, {}, true), Method::kDatatypeIo);
  EXPECT_EQ(method(listed, types, {}, true), Method::kListIo) << "the description is no shorter than the list";
  EXPECT_EQ(method(whole, types, {}, true), Method::kListIo);
  ResolvedHints by_type;
  by_type.method = Method::kDatatypeIo;
  EXPECT_EQ(method(listed, types, by_type, true), Method::kDatatypeIo);
  EXPECT_EQ(method(dense, lists, by_type, true), Method::kListIo) << "the storage takes none";
  ResolvedHints hybrid;
  hybrid.method = Method::kHybrid;
  EXPECT_EQ(method(dense, types, hybrid, true), Method::kDatatypeIo);
  EXPECT_EQ(method(listed, types, hybrid, true), Method::kHybrid);
  EXPECT_EQ(method(dense, lists, hybrid, true), Method::kHybrid);
  IndependentShape reading = dense;
  reading.write = false;
  EXPECT_EQ(method(reading, local, {}, false), Method::kHybrid);
  ResolvedHints hints;
  hints.sieve_writes = Switch::kEnable;
  hints.sieve_reads = Switch::kDisable;
  EXPECT_EQ(method(dense, lists, hints, false), Method::kHybrid);
  EXPECT_EQ(method(reading, local, hints, false), Method::kListIo);
  hints.method = Method::kMultiple;
  EXPECT_EQ(method(dense, local, hints, true), Method::kMultiple);
}

TEST(Planner, RanksWithRegionsOfTheirOwnMoveAlone) {
  RequestShape shape{.total_bytes = 400, .piece_count = 40, .hull_bytes = 100 << 20, .windows = true, .apart = true};
  EXPECT_EQ(plan_on(4, 4, shape).method(), Method::kListIo);
  EXPECT_TRUE(goes_at_once(shape, {}, {}));
  shape.hull_bytes = 800;
  EXPECT_NE(plan_on(4, 4, shape).as<ThroughWindows>(), nullptr) << "close to each other";
  shape.hull_bytes = 100 << 20;
  shape.apart = false;
  EXPECT_EQ(plan_on(4, 4, shape).method(), Method::kTwoPhase) << "they may be interleaved";
  EXPECT_FALSE(goes_at_once(shape, {}, {}));
  shape.apart = true;
  storage::Capabilities remote;
  remote.node_local_cache = false;
  EXPECT_EQ(plan_on(4, 4, shape, remote).method(), Method::kTwoPhase);
  EXPECT_FALSE(goes_at_once(shape, remote, {}));
  ResolvedHints hints;
  hints.collective_write = Switch::kEnable;
  EXPECT_EQ(plan_on(4, 4, shape, {}, hints).method(), Method::kTwoPhase);
  EXPECT_FALSE(goes_at_once(shape, {}, hints));
}

TEST(Planner, StripesAreDealtOutUnlessHintsSayOtherwise) {
  storage::Capabilities striped;
  striped.stripe_count = 6;
  striped.stripe_bytes = 1 << 20;
  const auto plan = [&](int ranks, const ResolvedHints& hints) {
    return *plan_on(ranks, 4, kShortPieces, striped, hints).as<ThroughAggregators>();
  };
  EXPECT_EQ(plan(16, {}).aggregators.size(), 6u);
  EXPECT_EQ(plan(5, {}).aggregators.size(), 3u) << "two servers each";
  EXPECT_EQ(plan(16, {}).stripe_count, 6);
  ResolvedHints hints;
  hints.domains = ResolvedHints::Domains::kAligned;
  EXPECT_EQ(plan(16, hints).stripe_count, 1);
  EXPECT_EQ(plan(16, hints).unit_bytes, 1 << 20);
  hints.domains = ResolvedHints::Domains::kEven;
  EXPECT_EQ(plan(16, hints).unit_bytes, 1);
  hints = {};
  hints.aggregator_places = {{"*", 1}};
  EXPECT_EQ(plan(16, hints).aggregators, (std::vector<int>{0, 4, 8, 12}));
  hints.mimic_stripe_count = 3;
  hints.mimic_stripe_bytes = 12345;
  EXPECT_EQ(plan(16, hints).stripe_count, 3);
  EXPECT_EQ(plan(16, hints).unit_bytes, 12345);
}

TEST(Planner, SpaceIsReservedWhereThatPays) {
  storage::Capabilities capabilities;
  RequestShape reading = kLongPieces;
  reading.write = false;
  EXPECT_FALSE(use_of(kLongPieces, false, capabilities).reserve);
  capabilities.reserving_pays = true;
  EXPECT_TRUE(use_of(kLongPieces, false, capabilities).reserve);
  EXPECT_FALSE(use_of(reading, false, capabilities).reserve);
  EXPECT_FALSE(use_of({64 << 10, 1}, false, capabilities).reserve);
  storage::Capabilities direct;
  direct.direct_align_bytes = 4096;
  EXPECT_TRUE(use_of({int64_t{100} << 20, 100}, true, direct).reserve);
}

TEST(Planner, AggregatorsAreSpreadOverTheNodes) {
  EXPECT_EQ(plan_on(8, 4, kShortPieces).as<ThroughAggregators>()->aggregators, (std::vector<int>{0, 4}));
  storage::Capabilities striped;
  striped.stripe_count = 4;
  striped.stripe_bytes = 1 << 20;
  ThroughAggregators plan = *plan_on(8, 4, kShortPieces, striped).as<ThroughAggregators>();
  EXPECT_EQ(plan.aggregators, (std::vector<int>{0, 4, 1, 5})) << "neighbouring stripes on different nodes";
  EXPECT_EQ(plan.stripe_count, 4);
  EXPECT_EQ(plan.unit_bytes, 1 << 20);
  ResolvedHints hints;
  hints.aggregator_count = 100;
  hints.striping_unit_bytes = 64 << 10;
  hints.shared_memory = Switch::kDisable;
  plan = *plan_on(7, 3, kShortPieces, striped, hints).as<ThroughAggregators>();
  EXPECT_EQ(std::set<int>(plan.aggregators.begin(), plan.aggregators.end()).size(), 7u);
  EXPECT_EQ(plan.unit_bytes, 64 << 10);
  EXPECT_FALSE(plan.shared_memory);
  hints.aggregator_count = 3;
  EXPECT_EQ(plan_on(7, 3, kShortPieces, striped, hints).as<ThroughAggregators>()->aggregators, (std::vector<int>{0, 3, 6}));
  // Where the storage was asked for the hints' stripes, its own answer counts before the hints.
  striped.striped_as_told = true;
  EXPECT_EQ(plan_on(7, 3, kShortPieces, striped, hints).as<ThroughAggregators>()->unit_bytes, 1 << 20);
}

TEST(Planner, RoundsAreShortOnStorageOfTheOneNode) {
  const auto buffer_of = [](int ranks_per_node, const RequestShape& shape, const storage::Capabilities& capabilities = {},
                            const ResolvedHints& hints = {}) {
    return plan_on(4, ranks_per_node, shape, capabilities, hints).as<ThroughAggregators>()->buffer_bytes;
  };
  constexpr int64_t kLong = 32 << 20;
  EXPECT_EQ(buffer_of(4, kShortPieces), 1 << 20);
  EXPECT_EQ(buffer_of(2, kShortPieces), kLong) << "messages cost";
  storage::Capabilities other;
  other.node_local_cache = false;
  EXPECT_EQ(buffer_of(4, kShortPieces, other), kLong) << "requests cost";
  other = {};
  other.stripe_count = 4;
  other.stripe_bytes = 1 << 20;
  EXPECT_EQ(buffer_of(4, kShortPieces, other), kLong);
  RequestShape shape = kShortPieces;
  shape.lane_count = 24;
  EXPECT_EQ(buffer_of(4, shape), 3 << 20) << "a part for each dataset";
  shape.lane_count = 1000;
  EXPECT_EQ(buffer_of(4, shape), kLong);
  shape = kShortPieces;
  shape.hull_bytes = 10 * shape.total_bytes;
  EXPECT_EQ(buffer_of(4, shape), kLong) << "most of a round would be empty";
  shape = kShortPieces;
  shape.durable = true;
  EXPECT_EQ(buffer_of(4, shape), 1 << 20);
  storage::Capabilities direct;
  direct.direct_align_bytes = 4096;
  EXPECT_EQ(buffer_of(4, shape, direct), kLong) << "past the page cache";
  ResolvedHints hints;
  hints.collective_buffer_bytes = 5 << 20;
  EXPECT_EQ(buffer_of(4, kShortPieces, {}, hints), 5 << 20);
}

TEST(Planner, TheUsualBufferIsThatOfDensePieces) {
  const auto usual = [](int ranks_per_node, const ResolvedHints& hints = {}) {
    std::vector<int64_t> bytes(4);
    const auto report = run_simulated({.ranks = 4, .ranks_per_node = ranks_per_node}, [&](Comm& comm) {
      bytes[static_cast<size_t>(comm.rank())] = usual_buffer_bytes({}, hints, comm);
    });
    EXPECT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(bytes, std::vector<int64_t>(4, bytes[0]));
    const auto planned = plan_on(4, ranks_per_node, kShortPieces, {}, hints).as<ThroughAggregators>()->buffer_bytes;
    EXPECT_EQ(bytes[0], planned);
    return bytes[0];
  };
  EXPECT_EQ(usual(4), 1 << 20);
  EXPECT_EQ(usual(2), 32 << 20);
  ResolvedHints hints;
  hints.collective_buffer_bytes = 5 << 20;
  EXPECT_EQ(usual(4, hints), 5 << 20);
}

TEST(Planner, SeveralRanksOfOneNodeAggregateInShortRounds) {
  const auto count = [&](int ranks, int ranks_per_node, const RequestShape& shape = kShortPieces) {
    return plan_on(ranks, ranks_per_node, shape).aggregators().size();
  };
  EXPECT_EQ(count(2, 2), 2u) << "one would write everything";
  EXPECT_EQ(count(3, 3), 2u);
  EXPECT_EQ(count(5, 5), 3u);
  EXPECT_EQ(count(20, 20), 8u);
  EXPECT_EQ(count(8, 4), 2u) << "one a node";
  RequestShape sparse = kShortPieces;
  sparse.hull_bytes = 10 * sparse.total_bytes;
  EXPECT_EQ(count(20, 20, sparse), 1u);
}

// Returns the aggregators of `ranks` ranks on hosts "n0", "n1" …; every rank must choose the same.
std::vector<int> aggregators_for(int ranks, int ranks_per_node, bool scatter, const std::string& list,
                                 const std::string& count) {
  std::vector<int> chosen;
  SimulationOptions options{.ranks = ranks, .ranks_per_node = ranks_per_node, .scatter_nodes = scatter};
  const auto report = run_simulated(options, [&](Comm& comm) {
    std::vector<std::string> warnings;
    Hints given{{"cb_config_list", list}};
    if (!count.empty()) {
      given["cb_nodes"] = count;
    }
    ResolvedHints hints = resolve_hints(given, warnings);
    EXPECT_TRUE(warnings.empty()) << list;
    const int node = comm.node_of_rank()[static_cast<size_t>(comm.rank())];
    hints.node_hosts = hosts_of_nodes(comm, "n" + std::to_string(node));
    const ThroughAggregators plan = plan_aggregators({}, hints, comm);
    if (comm.rank() == 0) {
      chosen = plan.aggregators;
    }
    if (list == "elsewhere:2" || list == "n1:2,*:1") {
      EXPECT_EQ(places_in_effect(hints, comm, plan.aggregators), list == "elsewhere:2" ? "*:1" : list);
    }
    const auto sum = std::accumulate(plan.aggregators.begin(), plan.aggregators.end(), int64_t{0});
    std::vector<int64_t> most{sum, -sum};
    comm.all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
    EXPECT_EQ(most[0], -most[1]) << "another rank chose others";
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
  return chosen;
}

TEST(Planner, AggregatorsAreWhereTheListHasPlaces) {
  using Ranks = std::vector<int>;
  // 4 nodes: 0 1 2, 3 4 5, 6 7 8, 9.
  const auto chosen = [](const std::string& list, const std::string& count = "") {
    return aggregators_for(10, 3, false, list, count);
  };
  EXPECT_EQ(chosen("*:1"), (Ranks{0, 3, 6, 9}));
  EXPECT_EQ(chosen("*:2"), (Ranks{0, 1, 3, 4, 6, 7, 9}));
  EXPECT_EQ(chosen("*:2", "5"), (Ranks{0, 1, 3, 6, 9})) << "one of each node first";
  EXPECT_EQ(chosen("*:*"), (Ranks{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(chosen("n1:2,*:1"), (Ranks{0, 3, 4, 6, 9}));
  EXPECT_EQ(chosen("*:1,n1:2"), (Ranks{0, 3, 6, 9})) << "the first entry that names a node is its own";
  EXPECT_EQ(chosen("n2:1,*:1", "1"), (Ranks{6})) << "nodes of earlier entries first";
  EXPECT_EQ(chosen("n0:0,*:1"), (Ranks{3, 6, 9}));
  EXPECT_EQ(chosen("n2"), (Ranks{6}));
  EXPECT_EQ(chosen(" n3:* , n0:2 "), (Ranks{0, 1, 9}));
  EXPECT_EQ(chosen("n2", "100"), (Ranks{6})) << "never more than there are places";
  EXPECT_EQ(chosen("elsewhere:2"), (Ranks{0, 3, 6, 9})) << "a list that names no node has no effect";
  EXPECT_EQ(aggregators_for(7, 3, true, "n1:2", ""), (Ranks{1, 4})) << "ranks dealt like cards";
  EXPECT_EQ(aggregators_for(5, 5, false, "n0:3", ""), (Ranks{0, 1, 2})) << "one node";
}

}  // namespace
}  // namespace stria::access
