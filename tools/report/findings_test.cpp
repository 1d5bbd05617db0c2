// Each rule has a trace that triggers it, and one that doesn't but is as similar as possible. The
// traces pass through the real writer and reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "report/rule.hpp"
#include "report/terminal.hpp"
#include "report/trace_builder_test.hpp"

namespace stria::tool {
namespace {

struct Case {
  const char* rule;
  std::function<TraceBuilder()> triggers;
  std::function<TraceBuilder()> does_not;
};

TraceBuilder pieces_of(int64_t number, int size_bin, int64_t bytes) {
  return TraceBuilder(4)
      .count_all(Counter::kWritePieces, number)
      .count_all(Counter::kWriteRequests, number)
      .count_all(bin(Counter::kWriteSizes0, size_bin), number)
      .count_all(Counter::kBytesWritten, number * bytes)
      .count_all(Counter::kSequentialWrites, number)
      .count_all(Counter::kCommonSize1, bytes)
      .count_all(Counter::kCommonSize1Count, number)
      .count_all(Counter::kWriteNs, 50 * kMs);
}

// 200 writes of 500 kB by each rank, of which so many begin or end within a unit of 1 MiB.
TraceBuilder unaligned_writes(int64_t number) {
  return pieces_of(200, 4, 500'000).count_all(Counter::kUnalignedWrites, number).count_all(Counter::kAlignmentBytes, kMiB);
}

// 4,000 writes of 8 bytes by each rank, `gap_bytes` apart.
TraceBuilder elements_one_by_one(int64_t gap_bytes) {
  return pieces_of(4000, 0, 8).count_all(Counter::kConsecutiveWrites, gap_bytes == 0 ? 3990 : 0);
}

TraceBuilder files_of(uint32_t number, int64_t bytes) {
  TraceBuilder builder(2);
  for (uint32_t file = 1; file <= number; ++file) {
    builder.count(static_cast<int>(file % 2), Counter::kOpens, 1, file)
        .count(static_cast<int>(file % 2), Counter::kBytesWritten, bytes, file);
  }
  return builder;
}

TraceBuilder writers(std::vector<int64_t> mib, bool aggregate) {
  TraceBuilder builder(static_cast<int>(mib.size()));
  for (size_t rank = 0; rank < mib.size(); ++rank) {
    builder.count(static_cast<int>(rank), Counter::kBytesWritten, mib[rank] * kMiB)
        .count(static_cast<int>(rank), Counter::kAggregated, aggregate);
  }
  return builder;
}

// Returns a commit of 400 ms on two ranks, which spend `milliseconds` of it on getting shared
// memory.
TraceBuilder shares_memory(int64_t milliseconds) {
  TraceBuilder builder(2);
  for (int rank = 0; rank < 2; ++rank) {
    builder.span(rank, trace::BuiltIn::kPlan, 100, 500);
    builder.span(rank, trace::BuiltIn::kShareMemory, 100, 100 + milliseconds).last_inside(rank, 1);
  }
  return builder;
}

// Four ranks: each gets `got` bytes, for which the storage reads `read` bytes of a file that is
// read up to `end`.
TraceBuilder reads(int64_t got, int64_t read, int64_t end) {
  return TraceBuilder(4)
      .count_all(Counter::kGets, 1)
      .count_all(Counter::kBytesGot, got)
      .count_all(Counter::kBytesRead, read)
      .count_all(Counter::kMaxReadEnd, end)
      .count_all(Counter::kReadNs, 50 * kMs);
}

// Returns the counters of `ior -a MPIIO -r -c -b 576000 -t 288 -s 1` on two ranks, as left by an
// engine that also reads what lies between the ranks' pieces, however far apart they are: 1,152 MB
// for 1.15 MB.
TraceBuilder short_collective_reads() {
  constexpr int64_t kCalls = 2000;
  constexpr int64_t kCallBytes = 288;
  constexpr int64_t kRankBytes = kCalls * kCallBytes;
  TraceBuilder builder(2);
  builder.count_all(Counter::kOpens, 1).count_all(Counter::kGets, kCalls).count_all(Counter::kBytesGot, kRankBytes);
  builder.count_all(Counter::kTransfersTwoPhase, kCalls).count_all(Counter::kMaxReadEnd, 2 * kRankBytes);
  builder.count(0, Counter::kAggregated, kCalls)
      .count(0, Counter::kReadPieces, kCalls)
      .count(0, Counter::kReadRequests, kCalls);
  builder.count(0, Counter::kBytesRead, kCalls * (kRankBytes + kCallBytes)).count(0, Counter::kSequentialReads, 1);
  builder.count(0, bin(Counter::kReadSizes0, 4), kCalls).count(0, Counter::kReadNs, 500 * kMs);
  return builder;
}

TraceBuilder unstages(int64_t bytes) {
  return good_run().count(0, Counter::kUnstagedBytes, bytes);
}

std::vector<Case> cases() {
  auto good = [] { return good_run(); };
  return {
      {"packing", [] { return good_run().count(0, Counter::kPackNs, 900 * kMs); }, good},
      {"sync", [] { return good_run().count(0, Counter::kSyncNs, 900 * kMs); }, good},
      {"metadata", [] { return good_run().count(0, Counter::kMetadataNs, 900 * kMs); },
       [] { return good_run().count(0, Counter::kMetadataNs, 20 * kMs); }},
      {"waiting", [] { return good_run().count(1, Counter::kExchangeNs, 900 * kMs).count(1, Counter::kWaitNs, 800 * kMs); },
       [] { return good_run().count(1, Counter::kExchangeNs, 900 * kMs).count(1, Counter::kWaitNs, 100 * kMs); }},
      {"exchange", [] { return good_run().count(1, Counter::kExchangeNs, 900 * kMs); },
       [] { return good_run().count(1, Counter::kExchangeNs, 80 * kMs); }},
      {"sharing_memory", [] { return shares_memory(200); }, [] { return shares_memory(20); }},
      {"collective_by_hint",
       [] { return good_run().count(1, Counter::kExchangeNs, 900 * kMs).fact("why collective", "hint romio_cb_write"); },
       [] {
         return good_run().count(1, Counter::kExchangeNs, 900 * kMs).fact("why collective", "pieces of ranks interleave");
       }},
      {"background",
       [] { return good_run().count_all(Counter::kBackgroundNs, 800 * kMs).count_all(Counter::kBackgroundWaitNs, 300 * kMs); },
       good},
      {"unstaged", [] { return unstages(4 * kMiB); }, [] { return unstages(2 * kMiB); }},
      {"read_modify_write", [] { return good_run().count_all(Counter::kBytesRead, 32 * kMiB); },
       [] { return good_run().count_all(Counter::kBytesRead, 32 * kMiB).count(0, Counter::kGets, 1); }},
      {"far_from_limit", [] { return good_run().count_all(Counter::kWriteNs, 20'000 * kMs); }, good},
      {"small_requests", [] { return pieces_of(200, 2, 4096); }, [] { return pieces_of(200, 5, 2 * kMiB); }},
      {"element_by_element", [] { return elements_one_by_one(0); }, [] { return elements_one_by_one(4096); }},
      {"unaligned", [] { return unaligned_writes(190); }, [] { return unaligned_writes(20); }},
      {"random_order", [] { return pieces_of(300, 5, 2 * kMiB).count_all(Counter::kReadPieces, 900); },
       [] { return pieces_of(300, 5, 2 * kMiB); }},
      {"scattered",
       [] { return pieces_of(1, 1, 0).count_all(Counter::kWritePieces, 4000).count_all(Counter::kBytesWritten, 4000 * 512); },
       [] { return pieces_of(4000, 1, 512); }},
      {"read_again",
       [] {
         return TraceBuilder(4)
             .count_all(Counter::kBytesRead, 8 * kMiB)
             .count_all(Counter::kMaxReadEnd, 8 * kMiB)
             .count_all(Counter::kGets, 1);
       },
       [] {
         return TraceBuilder(4)
             .count_all(Counter::kBytesRead, 2 * kMiB)
             .count_all(Counter::kMaxReadEnd, 8 * kMiB)
             .count_all(Counter::kGets, 1);
       }},
      {"read_again", [] { return reads(8 * kMiB, 8 * kMiB, 8 * kMiB); }, [] { return short_collective_reads(); }},
      {"read_in_excess", [] { return short_collective_reads(); }, [] { return reads(8 * kMiB, 8 * kMiB, 32 * kMiB); }},
      {"written_in_excess", [] { return good_run().count_all(Counter::kBytesWritten, 256 * kMiB); }, good},
      {"aggregator_imbalance",
       [] {
         return writers({100, 1, 1, 90, 1, 1, 1, 1}, true);
       },
       [] {
         return writers({90, 80, 100, 95}, true);
       }},
      {"rank_imbalance", [] { return good_run().count(2, Counter::kWriteNs, 200 * kMs); },
       [] { return good_run().count(2, Counter::kWriteNs, 20 * kMs).count(0, Counter::kSyncNs, 200 * kMs); }},
      {"one_writer",
       [] {
         return writers({100, 0, 0, 1}, false);
       },
       [] {
         return writers({100, 0, 60, 1}, false);
       }},
      {"many_opens", [] { return good_run().count_all(Counter::kOpens, 30); }, good},
      {"small_files", [] { return files_of(100, 4096); }, [] { return files_of(100, 4 * kMiB); }},
      {"small_commits", [] { return good_run().count_all(Counter::kCommits, 5000); },
       [] { return good_run().count_all(Counter::kCommits, 50); }},
      {"collective_given_up", [] { return good_run().fact("no collective cause", "type conversion"); },
       [] { return good_run().fact("no collective cause", ""); }},
      {"hint_problems", [] { return good_run().fact("hint warnings", "cb_nodes=x: not a number"); },
       [] { return good_run().fact("hint cb_nodes", "4"); }},
      {"dropped_records", [] { return good_run().dropped(3, 77); }, [] { return good_run().dropped(3, 0); }},
  };
}

TEST(Findings, EachRuleFiresOnItsTraceAndNotOnItsNeighbour) {
  for (const Case& one : cases()) {
    EXPECT_TRUE(rules_of(one.triggers()).contains(one.rule)) << one.rule << " should fire";
    EXPECT_FALSE(rules_of(one.does_not()).contains(one.rule)) << one.rule << " should be silent";
  }
}

TEST(Findings, EveryRuleIsTested) {
  std::set<std::string> tested;
  for (const Case& one : cases()) {
    tested.insert(one.rule);
  }
  EXPECT_GE(rule_names().size(), 12U);
  for (const char* name : rule_names()) {
    EXPECT_TRUE(tested.contains(name)) << name;
  }
}

TEST(Findings, NoFindingWithoutANumberAndAnAdvice) {
  for (const Case& one : cases()) {
    std::vector<Finding> findings;
    rules_of(one.triggers(), &findings);
    for (const Finding& finding : findings) {
      auto has_digit = [](const std::string& text) {
        return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
      };
      EXPECT_TRUE(has_digit(finding.text) || has_digit(finding.evidence)) << finding.text;
      EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
      EXPECT_GT(finding.advice.size(), 20U) << finding.rule;
      EXPECT_GE(finding.weight, 0) << finding.rule;
      EXPECT_LE(finding.weight, 1) << finding.rule;
    }
  }
}

TEST(Findings, AGoodRunHasNone) {
  EXPECT_EQ(rules_of(good_run()), std::set<std::string>{});
}

TEST(Findings, AnEmptyTraceHasNone) {
  EXPECT_EQ(rules_of(TraceBuilder(1)), std::set<std::string>{});
}

TEST(Findings, BytesInExcessAreTheEnginesAndNamedWithTheHintThatHelps) {
  EXPECT_NE(advice_of(short_collective_reads(), "read_in_excess").find("romio_cb_read=disable"), std::string::npos);
  EXPECT_NE(advice_of(reads(kMiB, 8 * kMiB, 8 * kMiB), "read_in_excess").find("romio_ds_read=disable"), std::string::npos);
  EXPECT_NE(
      advice_of(good_run().count_all(Counter::kBytesWritten, 256 * kMiB), "written_in_excess").find("romio_ds_write=disable"),
      std::string::npos);
}

TEST(Findings, NoHintIsAdvisedThatIsInEffectAlready) {
  const auto together = [](TraceBuilder builder) { return builder.count_all(Counter::kTransfersTwoPhase, 100); };
  for (const std::string rule : {"small_requests", "scattered"}) {
    TraceBuilder writes = pieces_of(4000, 2, 512).count_all(Counter::kWriteRequests, rule == "scattered" ? 1 : 4000);
    EXPECT_NE(advice_of(writes, rule).find("romio_cb_write=enable"), std::string::npos) << rule;
    EXPECT_NE(advice_of(together(writes), rule), "") << rule;
    EXPECT_EQ(advice_of(together(writes), rule).find("=enable"), std::string::npos) << rule;
  }
  TraceBuilder mostly_reads =
      pieces_of(200, 2, 4096).count_all(Counter::kReadPieces, 300).count_all(bin(Counter::kReadSizes0, 2), 300);
  EXPECT_NE(advice_of(mostly_reads, "small_requests").find("romio_cb_read=enable"), std::string::npos);
}

TEST(Findings, SaysHowManyAggregatorsDoTheWriting) {
  std::vector<Finding> findings;
  rules_of(writers({100, 1, 1, 90, 1, 1, 1, 1}, true), &findings);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].text, "2 of 8 aggregators do 97 % of the writing and reading.");
}

TEST(RunDigest, SaysHowLongRanksStoodStill) {
  const TraceBuilder builder = good_run().count(1, Counter::kExchangeNs, 900 * kMs).count(1, Counter::kWaitNs, 800 * kMs);
  const TraceFile trace = builder.build();
  EXPECT_NEAR(RunDigest(trace).waiting_seconds(), 0.8, 1e-9);
  std::vector<Finding> findings;
  rules_of(builder, &findings);
  const auto waiting = std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "waiting"; });
  ASSERT_NE(waiting, findings.end());
  EXPECT_EQ(waiting->text, "63 % of the time in I/O is waiting for other ranks.");
  EXPECT_NE(waiting->evidence.find("800 ms of 1.26 s; least on rank 0 (0 s), most on rank 1 (800 ms)"), std::string::npos)
      << waiting->evidence;
}

TEST(RunDigest, TakesPhasesFromSpansWhereCountersAreMissing) {
  const auto pack = static_cast<trace::BuiltIn>(trace::kind(Phase::kPack).id);
  const TraceFile trace = TraceBuilder(2)
                              .span(0, trace::BuiltIn::kFileCommit, 100, 300)
                              .span(0, pack, 100, 250)
                              .span(1, trace::BuiltIn::kFileCommit, 200, 400)
                              .build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.phases().seconds(Phase::kPack), 0.15, 1e-9);
  EXPECT_NEAR(run.io_seconds(), 0.4, 1e-9);
  EXPECT_NEAR(run.io_wall_seconds(), 0.3, 1e-9);
}

TEST(RunDigest, BreaksTimeDownByWhatLiesRightInsideCalls) {
  const auto pack = static_cast<trace::BuiltIn>(trace::kind(Phase::kPack).id);
  TraceBuilder builder(1);
  builder.count(0, Counter::kPackNs, 100 * kMs);
  builder.span(0, trace::BuiltIn::kFileCommit, 100, 300).span(0, pack, 100, 200).span(0, trace::BuiltIn::kReduce, 200, 260);
  builder.inside(1, 1).inside(2, 1);
  builder.span(0, trace::BuiltIn::kStorageWrite, 120, 150).inside(3, 2);
  // The message is in flight meanwhile, so that it takes no time from the call.
  builder.span(0, trace::BuiltIn::kReceive, 100, 295).inside(4, 1);
  std::map<std::string, double> seconds = parts_of(builder.build());
  EXPECT_EQ(seconds.size(), 4U);
  EXPECT_NEAR(seconds["pack"], 0.07, 1e-9);
  EXPECT_NEAR(seconds["write"], 0.03, 1e-9);
  EXPECT_NEAR(seconds["waiting for other ranks"], 0.06, 1e-9);
  EXPECT_NEAR(seconds["File::commit itself"], 0.04, 1e-9);
}

TEST(RunDigest, WaitingIsAPartOfItsOwnWhateverPhaseItLiesIn) {
  const auto commit = static_cast<trace::BuiltIn>(trace::kind(Phase::kCommit).id);
  const auto exchange = static_cast<trace::BuiltIn>(trace::kind(Phase::kExchange).id);
  TraceBuilder builder(1);
  builder.span(0, trace::BuiltIn::kFileCommit, 100, 300);
  builder.span(0, exchange, 100, 200).inside(1, 1).span(0, trace::BuiltIn::kShareMemory, 100, 140).inside(2, 2);
  builder.span(0, trace::BuiltIn::kMessageWait, 150, 190).inside(3, 2);
  builder.span(0, commit, 200, 300).inside(4, 1).span(0, trace::BuiltIn::kBroadcast, 210, 300).inside(5, 5);
  std::map<std::string, double> seconds = parts_of(builder.build());
  EXPECT_NEAR(seconds["waiting for other ranks"], 0.13, 1e-9);
  EXPECT_NEAR(seconds["sharing memory"], 0.04, 1e-9);
  EXPECT_NEAR(seconds["exchange"], 0.02, 1e-9);
  EXPECT_NEAR(seconds["commit"], 0.01, 1e-9);
  EXPECT_EQ(seconds.size(), 4U);
}

TEST(Findings, WithoutSpansNothingIsCountedTwice) {
  const TraceBuilder builder = good_run()
                                   .count_all(Counter::kExchangeNs, 300 * kMs)
                                   .count_all(Counter::kCommitNs, 100 * kMs)
                                   .count_all(Counter::kWaitNs, 250 * kMs)
                                   .fact("why collective", "hint romio_cb_write");
  std::vector<Finding> findings;
  rules_of(builder, &findings);
  std::map<std::string, std::string> evidence;
  for (const Finding& finding : findings) {
    evidence[finding.rule] = finding.evidence;
  }
  // 490 ms per rank, of which 300 ms are exchange; 250 ms of waiting lie in the exchange and
  // in the commit.
  EXPECT_TRUE(evidence["collective_by_hint"].starts_with("waiting, exchange and shared memory take 61 %"))
      << evidence["collective_by_hint"];
  EXPECT_NE(evidence["waiting"].find("spends 60.0 ms in write"), std::string::npos) << evidence["waiting"];
}

// The run spends 49 % of its time in I/O at 6 % of the limit, and no part of it
// triggers another rule.
TraceBuilder slow_run() {
  return good_run()
      .count_all(Counter::kPackNs, 120 * kMs)
      .count_all(Counter::kMetadataNs, 100 * kMs)
      .count_all(Counter::kCommitNs, 110 * kMs)
      .count_all(Counter::kExchangeNs, 90 * kMs);
}

TEST(Findings, WhereIoMattersAndIsFarFromTheLimitTheReportSaysWhatTheTimeWentInto) {
  const TraceFile trace = slow_run().build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.io_share(), 0.49, 1e-9);
  EXPECT_EQ(verdict_of(run, given_limit(9000)), Verdict::kBelowLimit);
  const std::vector<Finding> findings = find(run, given_limit(9000));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "far_from_limit");
  EXPECT_FALSE(findings[0].is_remark);
  EXPECT_EQ(findings[0].text, "The time in I/O went into pack (24 %), commit (22 %), metadata (20 %).");
  EXPECT_NE(findings[0].advice.find("Begin with the largest part, pack."), std::string::npos) << findings[0].advice;
}

TEST(Findings, WithoutALimitTheReportSaysSoAndWhatTheTimeWentInto) {
  const TraceFile trace = slow_run().build();
  const RunDigest run(trace);
  EXPECT_EQ(verdict_of(run, {}), Verdict::kNotCompared);
  const std::vector<Finding> findings = find(run, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "far_from_limit");
  EXPECT_NE(findings[0].evidence.find("was not measured"), std::string::npos) << findings[0].evidence;
}

TEST(Findings, WhereIoIsLittleOfTheRunAllFindingsAreRemarks) {
  const TraceFile trace = pieces_of(200, 2, 4096).count_all(Counter::kWriteNs, 9 * kMs).build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.io_share(), 0.009, 1e-9);
  EXPECT_EQ(verdict_of(run, given_limit(3000)), Verdict::kLittle);
  const std::vector<Finding> findings = find(run, given_limit(3000));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "small_requests");
  EXPECT_TRUE(findings[0].is_remark);
}

TEST(Findings, ARunAtTheLimitHasNothingToDo) {
  const TraceFile trace = slow_run().build();
  const RunDigest run(trace);
  EXPECT_EQ(verdict_of(run, given_limit(500)), Verdict::kAtLimit);
  for (const Finding& finding : find(run, given_limit(500))) {
    EXPECT_TRUE(finding.is_remark) << finding.rule;
  }
}

TEST(RunDigest, MakesCountersOfSpansWhereNoneWereRecorded) {
  TraceBuilder builder(2);
  for (int i = 0; i < 200; ++i) {
    builder.span(0, trace::BuiltIn::kStorageWrite, 100 + i, 101 + i, 8);
  }
  std::vector<Finding> findings;
  EXPECT_TRUE(rules_of(builder, &findings).contains("small_requests"));
  const TraceFile trace = builder.build();
  const RunDigest run(trace);
  EXPECT_EQ(run.counters().total(Counter::kWriteRequests), 200);
  EXPECT_EQ(run.counters().useful_bytes(), 1600);
  EXPECT_EQ(run.counters().common_sizes().at(0), std::pair(int64_t{8}, int64_t{200}));
}

TEST(RunDigest, BreaksWrappedCallsDownByKind) {
  TraceBuilder builder(1);
  builder.count(0, Counter::kWriteNs, 50 * kMs);
  builder.kind("H5Dwrite", trace::Layer::kApp).kind("MPI_File_write_at", trace::Layer::kLibrary);
  builder.span(0, builder.added(0), 100, 300).span(0, builder.added(1), 150, 250).inside(1, 1);
  const TraceFile trace = builder.build();
  const std::vector<TimeShare> shares = RunDigest(trace).breakdown();
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_NEAR(shares[0].seconds, 0.1, 1e-9);
  EXPECT_NEAR(shares[1].seconds, 0.1, 1e-9);
  EXPECT_EQ(std::set<std::string>({shares[0].name, shares[1].name}), std::set<std::string>({"H5Dwrite", "MPI_File_write_at"}));
}

// Returns the counters of 80,000 interleaved writes of 8 bytes by independent calls of MPI-IO,
// whose calls have no phases.
TraceBuilder tiny_independent_writes() {
  return pieces_of(20'000, 0, 8).count_all(Counter::kWriteNs, -50 * kMs).count_all(Counter::kWriteRequestNs, 400 * kMs);
}

TEST(RunDigest, RequestsOutsideOfPhasesAreTimeInIoToo) {
  const TraceFile trace = tiny_independent_writes().build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.io_seconds(), 1.6, 1e-9);
  EXPECT_NEAR(run.part("write"), 1.6, 1e-9);
  EXPECT_NEAR(run.moving_share(), 1, 1e-9);
  EXPECT_EQ(verdict_of(run, StorageLimit()), Verdict::kNotCompared);
}

TEST(RunDigest, RequestsInsideOfPhasesAreCountedOnce) {
  const TraceFile trace = good_run().count_all(Counter::kWriteRequestNs, 50 * kMs).build();
  EXPECT_NEAR(RunDigest(trace).io_seconds(), RunDigest(good_run().build()).io_seconds(), 1e-9);
}

TEST(RunDigest, RequestsOfTheBackgroundAreNoTimeOfTheProgram) {
  const TraceFile trace = TraceBuilder(2)
                              .count_all(Counter::kWriteRequestNs, 300 * kMs)
                              .count_all(Counter::kBackgroundNs, 350 * kMs)
                              .count_all(Counter::kBackgroundWaitNs, 20 * kMs)
                              .build();
  EXPECT_NEAR(RunDigest(trace).io_seconds(), 0.04, 1e-9);
}

TEST(Findings, ElementsThatComeOneByOneAreNotAlsoSmallRequests) {
  const std::set<std::string> rules = rules_of(elements_one_by_one(0));
  EXPECT_TRUE(rules.contains("element_by_element"));
  EXPECT_FALSE(rules.contains("small_requests"));
  EXPECT_TRUE(rules_of(elements_one_by_one(4096)).contains("small_requests"));
}

TEST(Findings, WhoWaitsForASyncIsNotToldToTakeMoreAggregators) {
  const TraceBuilder builder = good_run()
                                   .count(0, Counter::kSyncNs, 900 * kMs)
                                   .count(1, Counter::kWaitNs, 900 * kMs)
                                   .count(2, Counter::kWaitNs, 900 * kMs)
                                   .count(3, Counter::kWaitNs, 900 * kMs);
  EXPECT_NE(advice_of(builder, "waiting").find("The others wait for rank 0: it waits until the data are safe"),
            std::string::npos)
      << advice_of(builder, "waiting");
}

TEST(Terminal, CountsBySeverityComeFirstAndLinesFitTheScreen) {
  const TraceFile trace = tiny_independent_writes().build();
  const RunDigest run(trace);
  const std::vector<Finding> findings = find(run, given_limit(3000));
  const std::string text = terminal_text(findings, run, false);
  EXPECT_TRUE(text.starts_with("2 findings: 2 high\n")) << text;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(terminal_text(findings, run, true).find("\033[1;31mhigh"), std::string::npos);
}

TEST(Texts, SizesAreToldToTheByteWhereTheyAreShort) {
  EXPECT_EQ(bytes_text(4096), "4,096 B");
  EXPECT_EQ(bytes_text(16 << 20), "16.8 MB");
  EXPECT_EQ(counted_text(1, "file"), "1 file");
  EXPECT_EQ(counted_text(1234, "node"), "1,234 nodes");
}

TEST(Findings, TinyIndependentRequestsAreAFindingWithTheirShareOfTheTime) {
  std::vector<Finding> findings;
  rules_of(tiny_independent_writes(), &findings);
  const auto small =
      std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "small_requests"; });
  ASSERT_NE(small, findings.end());
  EXPECT_FALSE(small->is_remark);
  EXPECT_NEAR(small->weight, 1, 1e-9);
}

TEST(StorageLimit, OnlyTheRunsOwnMachineIsProbedUnasked) {
  // The trace names "node0" as the host of its ranks.
  const TraceFile trace = good_run().build();
  EXPECT_EQ(directory_to_probe(RunDigest(trace)), "");
}

TEST(StorageLimit, ProbeLeavesNothingBehind) {
  auto limit = probe_limit(::testing::TempDir(), true, 3);
  ASSERT_TRUE(limit.ok()) << limit.status().message();
  EXPECT_GT(limit->bytes_per_second, 1e6);
  EXPECT_NE(limit->source.find("3 writers at once, as many as the run had"), std::string::npos) << limit->source;
  EXPECT_EQ(probe_limit("/nowhere/at/all", false, 1).status().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stria::tool
