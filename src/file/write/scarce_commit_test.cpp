// Memory runs out on one rank during a commit. Every rank ends, with the same outcome, and no
// file has the name.
#include <gtest/gtest.h>

#include <memory>

#include "file/move/put_guard.hpp"
#include "file/session/scarce_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

using access::test::Counting;

Status commit(WriteSession& session) {
  return session.commit();
}

/// Ends a file in the background, or in the call where the background has no memory.
Status commit_and_wait_if_need_be(WriteSession& session) {
  STRIA_ASSIGN_OR_RETURN(const auto commit, session.commit_async());
  session.file().comm().barrier();  // The simulated ranks share the thread that waits.
  return commit != nullptr ? commit->wait() : Status();
}

void check_every_moment(const Setting& setting, Status (*end)(WriteSession&) = commit) {
  std::unique_ptr<storage::MemoryDriver> memory;  // a new one each time
  fail_at_every_moment(
      [&](int64_t failing) {
        memory = std::make_unique<storage::MemoryDriver>();
        return run_once(setting, failing, [&](Comm& comm) {
          return write_file(setting, comm, borrow(*memory), [end](WriteSession& session) {
            Counting on(true);
            return end(session);
          });
        });
      },
      [&](const Status& status) {
        // The driver keeps files in memory, so a lack of memory may also look like a full device.
        const ErrorCode code = status.code();
        ASSERT_TRUE(code == ErrorCode::kResourceExhausted || code == ErrorCode::kNoSpace) << status.message();
        ASSERT_FALSE(*memory->exists(setting.path));
      });
}

TEST(ScarceCommit, EndsACreationEverywhere) {
  Setting setting;
  setting.ranks = 3;
  std::unique_ptr<storage::MemoryDriver> memory;
  const auto create = [&](Comm& comm) -> Status {
    Environment environment = environment_of(comm, borrow(*memory), setting.hints);
    Counting on(true);
    auto session = WriteSession::create(std::move(environment), setting.path, {});
    Counting off(false);
    return session.ok() ? (*session)->abandon() : session.status();
  };
  fail_at_every_moment(
      [&](int64_t failing) {
        memory = std::make_unique<storage::MemoryDriver>();
        return run_once(setting, failing, create);
      },
      [&](const Status& status) {
        ASSERT_EQ(status.code(), ErrorCode::kResourceExhausted) << status.message();
        ASSERT_TRUE(memory->list_directory(".")->empty());
      });
}

// Memory runs out in a commit that fails for another reason: all hear of a failure all the same.
void check_failing_commit(const Setting& setting, Status (*end)(WriteSession&), int64_t moments) {
  std::unique_ptr<storage::MemoryDriver> memory;
  const auto write = [&](Comm& comm) {
    const auto script = storage::FaultScript::parse("write:nth=1:errno=EIO", comm.rank()).value();
    return write_file(setting, comm, std::make_shared<storage::FaultDriver>(borrow(*memory), script),
                      [end](WriteSession& session) {
                        Counting on(true);
                        return end(session);
                      });
  };
  fail_while_failing(moments, ErrorCode::kIo, [&](int64_t failing) {
    memory = std::make_unique<storage::MemoryDriver>();
    return run_once(setting, failing, write);
  });
}

TEST(ScarceCommit, EndsAFailureEverywhere) {
  constexpr int64_t kEveryMoment = 1 << 20;
  check_failing_commit(lists_of_each_node(), commit, kEveryMoment);
  check_failing_commit(two_phase_on_two_nodes(), commit, kEveryMoment);
}

// Rank 0 waits eight seconds for a node that has no memory to call it, so there is one node here.
TEST(ScarceCommit, EndsAFailureInTheBackgroundEverywhere) {
  Setting setting = lists_of_each_node();
  setting.ranks_per_node = setting.ranks;
  check_failing_commit(setting, commit_and_wait_if_need_be, 60);
}

TEST(ScarceCommit, EndsAListWriteEverywhere) {
  check_every_moment(lists_of_each_node());
}

TEST(ScarceCommit, EndsACommitInTheBackgroundEverywhere) {
  Setting setting = lists_of_each_node();
  setting.ranks_per_node = setting.ranks;
  check_every_moment(setting, commit_and_wait_if_need_be);
}

// Memory runs out once the nodes are joined, while they tell one another how it went.
TEST(ScarceCommit, NodesHearTheSameOfACommitInTheBackground) {
  const Setting setting = lists_of_each_node();
  std::unique_ptr<storage::MemoryDriver> memory;
  const auto end = [](WriteSession& session) -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto commit, session.commit_async());
    session.file().comm().barrier();  // The simulated ranks share the thread that waits.
    Counting on(true);
    return commit->wait();
  };
  const auto once = [&](int64_t failing) {
    memory = std::make_unique<storage::MemoryDriver>();
    return run_once(setting, failing, [&](Comm& comm) { return write_file(setting, comm, borrow(*memory), end); });
  };
  fail_at_moments(200, ErrorCode::kOk, once, [&](const Outcome& outcome) {
    ASSERT_EQ(*memory->exists(setting.path), outcome.statuses[0].ok()) << outcome.statuses[0].message();
  });
}

TEST(ScarceCommit, EndsAWriteOfChunksEverywhere) {
  Setting setting = lists_of_each_node();
  setting.compressed = true;
  check_every_moment(setting);
}

// Puts that get chunks are taken out of those that are pending among the first moments.
TEST(ScarceCommit, EndsWherePutsOfChunksAreSetAside) {
  constexpr int64_t kMoments = 300;
  const int64_t step = step_between(kMoments, kMoments);
  Setting setting = lists_of_each_node();
  setting.compressed = true;
  for (int64_t failing = 0; failing < kMoments; failing += step) {
    SCOPED_TRACE("allocation " + std::to_string(failing));
    storage::MemoryDriver memory;
    const Outcome outcome = run_once(setting, failing, [&](Comm& comm) {
      return write_file(setting, comm, borrow(memory), [](WriteSession& session) {
        Counting on(true);
        return session.commit();
      });
    });
    ASSERT_FALSE(HasFailure());
    for (const Status& status : outcome.statuses) {
      ASSERT_EQ(status.message(), outcome.statuses[0].message());
    }
  }
}

/// A communicator whose exchange of that number finds no room for what comes, on all ranks.
class NarrowComm final : public access::test::SureComm {
 public:
  NarrowComm(Comm& inner, int narrow, int& made) : SureComm(inner), narrow_(narrow), made_(made) {}
  Messages sparse_exchange(const Messages& outgoing) override {
    Messages incoming = SureComm::sparse_exchange(outgoing);
    if (made_++ == narrow_) {
      throw std::bad_alloc();
    }
    return incoming;
  }

 private:
  int narrow_;
  int& made_;
};

TEST(ScarceCommit, EndsWhereWhatOthersSendHasNoRoom) {
  for (Setting setting : {lists_of_each_node(), two_phase_on_two_nodes()}) {
    setting.compressed = true;
    int exchanges = 1;
    for (int narrow = -1; narrow < exchanges; ++narrow) {
      SCOPED_TRACE("exchange " + std::to_string(narrow) + " of " + std::to_string(exchanges));
      storage::MemoryDriver memory;
      std::vector<int> made(static_cast<size_t>(setting.ranks));
      std::vector<Status> statuses(made.size());
      on_ranks(setting, [&](Comm& inner) {
        const auto rank = static_cast<size_t>(inner.rank());
        NarrowComm comm(inner, narrow, made[rank]);
        statuses[rank] = write_file(setting, comm, borrow(memory));
      });
      ASSERT_FALSE(HasFailure());
      exchanges = std::max(exchanges, made[0]);
      for (const Status& status : statuses) {
        ASSERT_EQ(status.code(), narrow < 0 ? ErrorCode::kOk : ErrorCode::kResourceExhausted) << status.message();
        ASSERT_EQ(status.message(), statuses[0].message());
      }
      ASSERT_EQ(*memory.exists(setting.path), narrow < 0);
    }
    EXPECT_GT(exchanges, 2);
  }
}

TEST(ScarceCommit, EndsATwoPhaseWriteEverywhere) {
  check_every_moment(two_phase_on_two_nodes());
}

TEST(ScarcePut, APutThatCannotBeCopiedIsSampledUnlessACopyWasAskedFor) {
  const std::vector<double> numbers(100, 1.0);
  Transfer put;
  put.memory = Memory(numbers);
  for (int64_t failing = 0; failing < 2; ++failing) {
    PutGuard guard({.copied_bytes = 1 << 20, .samples = true});
    Transfer small = put;
    Transfer asked_for = put;
    asked_for.memory = asked_for.memory.copied();
    {
      access::test::fail_allocation(failing);
      Counting on(true);
      EXPECT_TRUE(guard.take(small).ok());
    }
    EXPECT_EQ(small.memory.data, numbers.data());
    EXPECT_TRUE(small.sample.has_value());
    access::test::fail_allocation(failing);
    Counting on(true);
    EXPECT_THROW(static_cast<void>(guard.take(asked_for)), std::bad_alloc);
  }
  access::test::fail_allocation(-1);
}

}  // namespace
}  // namespace stria::file::test
