// Storage fails at every moment of a commit in the background, on simulated ranks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

Status commit_and_wait(WriteSession& session) {
  STRIA_ASSIGN_OR_RETURN(const auto commit, session.commit_async());
  // The simulated ranks share the thread that waits.
  session.comm().barrier();
  return commit->wait();
}

Setting on_one_node(access::Method method, bool compressed) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 3;
  setting.flushes = 1;
  setting.hints.method = method;
  setting.compressed = compressed;
  return setting;
}

const std::pair<access::Method, bool> kKinds[] = {
    {access::Method::kListIo, false}, {access::Method::kTwoPhase, false}, {access::Method::kListIo, true}};

TEST(BackgroundFault, EveryMethodAndLimitGivesTheSameFile) {
  for (const auto& [method, compressed] : kKinds) {
    for (const int64_t limit : {-1, 0, 5000}) {
      Setting setting = on_one_node(method, compressed);
      setting.hints.staging_limit_bytes = limit;
      storage::MemoryDriver memory;
      on_ranks(setting, [&](Comm& comm) {
        ASSERT_EQ(write_file(setting, comm, borrow(memory), commit_and_wait).message(), "");
        ASSERT_EQ(compare_file(setting, comm, borrow(memory), {.verify = true}), "");
      });
    }
  }
}

TEST(BackgroundFault, EveryFailedOperationEndsEverywhereAndLeavesNoFile) {
  for (const auto& [method, compressed] : kKinds) {
    const Setting setting = on_one_node(method, compressed);
    for (int rank = 0; rank < setting.ranks; ++rank) {
      int failures = 0;
      bool failed = true;
      for (int nth = 1; failed && nth < 200; ++nth) {
        storage::MemoryDriver memory;
        std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
        const std::string fault = "any:nth=" + std::to_string(nth) + ":errno=EIO";
        SCOPED_TRACE(fault + " on rank " + std::to_string(rank));
        int64_t operations = 0;
        on_ranks(setting, [&](Comm& comm) {
          auto script =
              storage::FaultScript::parse(comm.rank() == rank ? fault : "any:nth=100000:errno=EIO", comm.rank()).value();
          auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
          statuses[static_cast<size_t>(comm.rank())] = write_file(setting, comm, driver, commit_and_wait);
          operations = comm.rank() == rank ? script->operation_count() : operations;
        });
        failed = operations >= nth;
        for (const Status& status : statuses) {
          ASSERT_EQ(status.code(), statuses[0].code()) << status.message() << " and " << statuses[0].message();
          ASSERT_EQ(status.message(), statuses[0].message());
        }
        if (!statuses[0].ok()) {
          ++failures;
          const std::string& words = statuses[0].message();
          ASSERT_EQ(statuses[0].code(), ErrorCode::kIo) << words;
          ASSERT_NE(words.find("rank " + std::to_string(rank)), std::string::npos) << words;
          ASSERT_EQ(*memory.exists(setting.path), words.find("was not written") == std::string::npos) << words;
          ASSERT_FALSE(*memory.exists(partial_path(setting.path)));
        }
      }
      EXPECT_GT(failures, 1);
    }
  }
}

}  // namespace
}  // namespace stria::file::test
