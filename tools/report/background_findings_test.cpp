// Tests what the report says of commits in the background, and of ranks that wait.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/trace_builder_test.hpp"

namespace stria::tool {
namespace {

// Four ranks commit in 100 ms. Then each writes for 200 ms in the background, one after the other,
// and rank 0 syncs for 50 ms. At the end the ranks wait for `wait_ms`, rank 3 for 10 ms more.
TraceBuilder background_run(int64_t wait_ms, bool with_spans) {
  TraceBuilder builder = TraceBuilder(4)
                             .count_all(Counter::kCommits, 1)
                             .count_all(Counter::kPuts, 10)
                             .count_all(Counter::kBytesPut, 64 * kMiB)
                             .count_all(Counter::kBytesWritten, 64 * kMiB)
                             .count_all(Counter::kPackNs, 60 * kMs)
                             .count_all(Counter::kBackgroundNs, 200 * kMs)
                             .count(0, Counter::kBackgroundNs, 250 * kMs)
                             .count_all(Counter::kBackgroundWaitNs, wait_ms * kMs)
                             .count(3, Counter::kBackgroundWaitNs, (wait_ms + 10) * kMs);
  if (!with_spans) {
    return builder;
  }
  builder.kind("background write", trace::Layer::kEngine).kind("background end", trace::Layer::kEngine);
  builder.kind("background wait", trace::Layer::kEngine);
  for (int rank = 0; rank < 4; ++rank) {
    const int64_t wait_end = 950 + (rank == 3 ? 10 : 0);
    builder.span(rank, trace::BuiltIn::kFileCommit, 0, 100);
    builder.span(rank, builder.added(2), 950 - wait_ms, wait_end);
    builder.span(rank, builder.added(0), 100 + 200 * rank, 300 + 200 * rank).last_on_other_thread(rank);
    builder.span(rank, trace::BuiltIn::kStorageWrite, 110 + 200 * rank, 290 + 200 * rank).last_on_other_thread(rank);
  }
  return builder.span(0, builder.added(1), 900, 950).last_on_other_thread(0);
}

TEST(RunDigest, WorkInTheBackgroundIsNoInputOrOutputOfItsRanks) {
  const TraceFile trace = background_run(40, true).build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.io_seconds(0), 0.14, 1e-9);
  EXPECT_NEAR(run.io_wall_seconds(), 0.15, 1e-9);
  EXPECT_NEAR(run.io_share(), 0.1425, 1e-9);
  EXPECT_NEAR(run.background_wall_seconds(), 0.85, 1e-9);
  const std::map<std::string, double> parts = parts_of(trace);
  EXPECT_EQ(parts.size(), 2U);
  EXPECT_NEAR(parts.at("File::commit itself"), 0.4, 1e-9);
  EXPECT_NEAR(parts.at("waiting for the background"), 0.17, 1e-9);
}

TEST(RunDigest, WithoutSpansWaitingCountsAsTimeInIo) {
  // Ranks wait between phases too, for commits in the background and for one another.
  const TraceFile trace = background_run(400, false).count_all(Counter::kWaitNs, 486 * kMs).build();
  const RunDigest run(trace);
  EXPECT_NEAR(run.io_seconds(0), 0.886, 1e-9);
  EXPECT_NEAR(run.breakdown_seconds(), run.io_seconds(), 1e-9);
  EXPECT_NEAR(run.background_wall_seconds(), 0.85, 1e-9);
  EXPECT_EQ(verdict_of(run, {}), Verdict::kNotCompared);
  for (const Finding& finding : find(run, {})) {
    EXPECT_TRUE(finding.rule != "waiting" || finding.text.starts_with("55 % ")) << finding.text;
  }
}

TEST(Findings, HiddenAtFullLevelIsWhatTheLongestWaitLeavesOfTheWork) {
  for (const bool with_spans : {true, false}) {
    std::vector<Finding> findings;
    rules_of(background_run(30, with_spans), &findings);
    const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "background"; });
    ASSERT_NE(found, findings.end());
    // 40 ms of 850 ms, though all ranks together waited for 130 ms.
    EXPECT_TRUE(found->text.starts_with("95 % of the work")) << found->text;
    EXPECT_NE(found->evidence.find("40.0 ms of waiting on rank 3"), std::string::npos) << found->evidence;
    EXPECT_EQ(found->advice, "Nothing: there is little left to hide.");
  }
}

// Two commits of four ranks of a node, which write 64 MiB each and rank 1 twice as much: of that,
// `unstaged_bytes` didn't fit.
TraceBuilder unstaged_run(int64_t unstaged_bytes) {
  return TraceBuilder(4)
      .count_all(Counter::kCommits, 2)
      .count_all(Counter::kPuts, 10)
      .count_all(Counter::kBytesPut, 64 * kMiB)
      .count_all(Counter::kBytesWritten, 64 * kMiB)
      .count(1, Counter::kBytesWritten, 128 * kMiB)
      .count(1, Counter::kUnstagedBytes, unstaged_bytes)
      .count_all(Counter::kWriteNs, 60 * kMs);
}

// The background had next to nothing to do.
TEST(Findings, WhatDidNotFitIntoTheStagingIsToldWithTheLimitThatHadBeenEnough) {
  std::vector<Finding> findings;
  rules_of(unstaged_run(120 * kMiB).fact("hint stria_staging_limit", "100000"), &findings);
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "unstaged"; });
  ASSERT_NE(found, findings.end());
  EXPECT_TRUE(found->text.starts_with("126 MB of 336 MB were written within commit_async()")) << found->text;
  EXPECT_EQ(found->evidence, "38 % of the bytes; the limit of a node's staging memory was 100000 bytes");
  EXPECT_TRUE(found->advice.starts_with("Raise it to 268435456 bytes for each commit")) << found->advice;
  EXPECT_TRUE(advice_of(unstaged_run(120 * kMiB), "far_from_limit").starts_with("What follows"));
  EXPECT_TRUE(advice_of(unstaged_run(kMiB), "far_from_limit").starts_with("Begin with the largest part, write"));
}

TEST(Findings, WhereTheProgramWaitsForTheBackgroundTheAdviceIsAboutThat) {
  const std::string advice = advice_of(background_run(400, true), "far_from_limit");
  EXPECT_TRUE(advice.starts_with("Begin with the largest part, waiting for the background. Compute longer")) << advice;
  EXPECT_TRUE(advice_of(background_run(400, true), "background").starts_with("Compute longer"));
}

TEST(Findings, OnlyTheAdviceThatHoldsIsGivenToRanksThatWait) {
  const TraceBuilder alike = good_run().count_all(Counter::kExchangeNs, 500 * kMs).count_all(Counter::kWaitNs, 400 * kMs);
  EXPECT_TRUE(advice_of(alike, "waiting").starts_with("All ranks wait about alike")) << advice_of(alike, "waiting");
  const TraceBuilder unequal = good_run().count_all(Counter::kExchangeNs, 500 * kMs).count(1, Counter::kWaitNs, 900 * kMs);
  EXPECT_TRUE(advice_of(unequal, "waiting").starts_with("The others wait for rank 0")) << advice_of(unequal, "waiting");
}

}  // namespace
}  // namespace stria::tool
