// Storage fails at every moment of a commit in the background, on simulated ranks of one node and
// of several.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "file/background/background_commit.hpp"
#include "file/session/session_case_test.hpp"

namespace stria::file::test {
namespace {

Status commit_and_wait(WriteSession& session) {
  STRIA_ASSIGN_OR_RETURN(const auto commit, session.commit_async());
  if (commit == nullptr) {
    return Status(ErrorCode::kInternal, "it has ended in the call");
  }
  // The simulated ranks share the thread that waits.
  session.comm().barrier();
  return commit->wait();
}

Setting on_nodes(int ranks_per_node, access::Method method, bool compressed) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = ranks_per_node;
  setting.flushes = 1;
  setting.hints.method = method;
  setting.compressed = compressed;
  return setting;
}

const std::pair<access::Method, bool> kKinds[] = {
    {access::Method::kListIo, false}, {access::Method::kTwoPhase, false}, {access::Method::kListIo, true}};

/// How many ranks share a node.
class BackgroundFault : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(RanksPerNode, BackgroundFault, ::testing::Values(3, 2, 1));

TEST_P(BackgroundFault, EveryMethodAndLimitGivesTheSameFile) {
  for (const auto& [method, compressed] : kKinds) {
    for (const int64_t limit : {-1, 0, 5000}) {
      Setting setting = on_nodes(GetParam(), method, compressed);
      setting.hints.staging_limit_bytes = limit;
      storage::MemoryDriver memory;
      on_ranks(setting, [&](Comm& comm) {
        ASSERT_EQ(write_file(setting, comm, borrow(memory), commit_and_wait).message(), "");
        ASSERT_EQ(compare_file(setting, comm, borrow(memory), {.verify = true}), "");
      });
    }
  }
}

TEST_P(BackgroundFault, EveryFailedOperationEndsEverywhereAndLeavesTheOldFile) {
  const Bytes old(1000, std::byte{42});
  for (const auto& [method, compressed] : kKinds) {
    fail_every_operation(on_nodes(GetParam(), method, compressed), commit_and_wait, old,
                         [&](const Status& failure, const Bytes& after) {
                           const std::string& words = failure.message();
                           ASSERT_EQ(after == old, words.find("was not written") != std::string::npos) << words;
                         });
  }
}

/// A commit of two nodes, of which one is lost when it has joined; what the other one says.
std::string outcome_without(int lost_rank) {
  Setting setting;
  setting.ranks = 2;
  storage::MemoryDriver memory;
  std::string said;
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path}, 0, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    ASSERT_EQ(commit.join(comm).message(), "");
    if (comm.rank() == lost_rank) {
      return;
    }
    auto partial = std::make_unique<PartialFile>(borrow(memory), setting.path);
    ASSERT_TRUE(partial->create({}).ok());
    auto opened = memory.open(partial_path(setting.path), {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    const bool is_root = commit.is_root();
    commit.take_handles(borrow(memory), is_root ? std::move(partial) : nullptr, is_root ? nullptr : std::move(opened));
    commit.write();
    auto step = BackgroundCommit::Step::kNotYet;
    for (int attempt = 0; step == BackgroundCommit::Step::kNotYet; ++attempt) {
      comm.pause(attempt);
      step = commit.try_to_end();
    }
    EXPECT_EQ(step, BackgroundCommit::Step::kFailed);
    EXPECT_FALSE(*memory.exists(setting.path));
    said = commit.wait().message();
  });
  return said;
}

TEST(BackgroundNodes, ALostNodeFailsTheCommit) {
  EXPECT_NE(outcome_without(1).find("'run.h5' was not written: rank 1: its node can't be reached any more"), std::string::npos)
      << outcome_without(1);
  EXPECT_NE(outcome_without(0).find("rank 0 is gone, and may have given the file its name or not"), std::string::npos)
      << outcome_without(0);
}

}  // namespace
}  // namespace stria::file::test
