// Storage fails at every moment of a commit in the background, on simulated ranks of one node and
// of several.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/random_case_test.hpp"
#include "file/background/background_commit.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "wire/trust/key.hpp"

namespace stria::file::test {
namespace {

Setting on_nodes(int ranks_per_node, access::Method method, bool compressed) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = ranks_per_node;
  setting.flushes = 1;
  setting.hints.method = method;
  setting.compressed = compressed;
  return setting;
}

/// Files that are whole in a place of their own before they reach theirs.
Setting staged(int ranks_per_node) {
  Setting setting = on_nodes(ranks_per_node, access::Method::kListIo, false);
  setting.path = "/data/run.h5";
  setting.hints.staging_place = "/near";
  return setting;
}

/// The commit is made by the thread, and in the call.
const std::function<Status(WriteSession&)> kWays[] = {commit_and_wait, &WriteSession::commit};

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

TEST_P(BackgroundFault, AStagedFileIsWholeAtItsPlaceOrLeavesTheOldOne) {
  const Bytes old(1000, std::byte{42});
  Setting setting = staged(GetParam());
  for (const auto& commit : kWays) {
    fail_every_operation(setting, commit, old, [&](const Status& failure, const Bytes& after) {
      const std::string& words = failure.message();
      ASSERT_EQ(after == old, words.find("was not written") != std::string::npos) << words;
    });
  }
}

TEST_P(BackgroundFault, APlaceWithoutRoomIsPassedBy) {
  Setting setting = on_nodes(GetParam(), access::Method::kListIo, false);
  setting.path = "/data/run.h5";
  Setting reading = setting;
  setting.hints.staging_place = "/near";
  const std::function<Status(WriteSession&)> ways[] = {commit_and_wait, &WriteSession::commit};
  for (const char* operation : {"open", "preallocate"}) {
    for (const char* error : {"ENOSPC", "EIO", "EROFS", "ENOENT", "EACCES"}) {
      for (const auto& commit : ways) {
        const std::string fault = std::string(operation) + ":path=near:errno=" + error;
        SCOPED_TRACE(fault);
        setting.flushes = &commit == ways ? 0 : 1;
        storage::MemoryDriver memory;
        on_ranks(setting, [&](Comm& comm) {
          const auto script = storage::FaultScript::parse(fault, comm.rank()).value();
          const auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
          ASSERT_EQ(write_file(setting, comm, driver, commit).message(), "");
        });
        EXPECT_EQ(memory.list_directory("/near").value(), std::vector<std::string>());
        on_ranks(reading, [&](Comm& comm) { ASSERT_EQ(compare_file(reading, comm, borrow(memory), {.verify = true}), ""); });
      }
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

// A place that can't reserve fills up while it is written to, by the call or by the thread.
TEST_P(BackgroundFault, APlaceThatFillsUpFailsTheCommitAndLeavesTheOldFile) {
  const Bytes old(1000, std::byte{42});
  Setting setting = staged(GetParam());
  for (const auto& commit : kWays) {
    for (const int64_t limit : {-1, 0}) {
      setting.hints.staging_limit_bytes = limit;
      setting.flushes = limit < 0 ? 0 : 1;
      for (const char* room : {"0", "1000", "4000"}) {
        SCOPED_TRACE(std::string("room for ") + room + " bytes, limit " + std::to_string(limit));
        storage::MemoryDriver memory;
        access::test::set_content(memory, setting.path, old);
        const auto script = storage::FaultScript::parse(
                                "preallocate:path=near:errno=EOPNOTSUPP:count=all;"
                                "write:path=near:errno=ENOSPC:after=" +
                                    std::string(room),
                                0)
                                .value();
        const auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
        on_ranks(setting, [&](Comm& comm) {
          const Status status = write_file(setting, comm, driver, commit);
          ASSERT_EQ(status.code(), ErrorCode::kNoSpace) << status.message();
          ASSERT_NE(status.message().find("'/data/run.h5' was not written"), std::string::npos) << status.message();
        });
        EXPECT_EQ(access::test::content_of(memory, setting.path), old);
        EXPECT_EQ(memory.list_directory("/near").value(), std::vector<std::string>());
        EXPECT_EQ(memory.list_directory("/data").value(), std::vector<std::string>{"run.h5"});
      }
    }
  }
}

void write(BackgroundCommit& commit) {
  Pace pace;
  while (!commit.write_piece(pace)) {
  }
}

TEST(BackgroundTurns, AsManyRanksOfANodeWriteAtATimeAsMay) {
  constexpr int kWriters = 2;
  Setting setting;
  setting.ranks = 5;
  setting.ranks_per_node = 5;
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path, .writers = kWriters}, 0, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    for (int done = 0; done < setting.ranks; ++done) {
      EXPECT_EQ(commit.turns_to_wait(), std::max(0, comm.rank() - std::min(comm.rank(), done) + 1 - kWriters));
      comm.barrier();
      if (comm.rank() == done) {
        write(commit);
      }
      comm.barrier();
    }
  });
}

TEST(BackgroundTurns, ANodeWritesTheNextFileWhenItHasWrittenTheOneBefore) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 3;
  on_ranks(setting, [&](Comm& comm) {
    const BackgroundCommit::About about{.path = setting.path, .stored_path = setting.path, .writers = 3};
    BackgroundCommit first(about, 0, comm);
    BackgroundCommit second(about, 0, comm);
    ASSERT_EQ(first.share(comm).message(), "");
    ASSERT_EQ(second.share(comm).message(), "");
    second.follow(first.board());
    for (int done = 0; done < setting.ranks; ++done) {
      EXPECT_EQ(first.turns_to_wait(), 0);
      EXPECT_EQ(second.turns_to_wait(), setting.ranks - done);
      comm.barrier();
      if (comm.rank() == done) {
        write(first);
      }
      comm.barrier();
    }
    EXPECT_EQ(second.turns_to_wait(), 0);
  });
}

TEST(BackgroundTurns, APieceIsWrittenAtATimeAndTheRankIsToldOfAfterTheLast) {
  Setting setting;
  setting.ranks = 1;
  setting.ranks_per_node = 1;
  storage::MemoryDriver memory;
  constexpr int64_t kRate = 2 << 20;
  const Bytes data(300'000, std::byte{5});
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path, .bytes_a_second = kRate}, 1 << 20, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    ASSERT_EQ(commit.staging().take({0, data.data(), 200'000}), 200'000);
    ASSERT_EQ(commit.staging().take({250'000, data.data(), 50'000}), 50'000);
    auto partial = std::make_unique<PartialFile>(borrow(memory), setting.path);
    ASSERT_TRUE(partial->create({}).ok());
    commit.take_handles({borrow(memory), std::move(partial), nullptr, nullptr, nullptr});
    commit.set_end(300'000);
    const int64_t piece = Pace::piece_bytes(kRate, 1 << 30);
    Pace pace;
    for (int64_t written = piece; written < 250'000; written += piece) {
      EXPECT_FALSE(commit.write_piece(pace));
      EXPECT_EQ(commit.board()->progress().written_bytes, written);
      EXPECT_EQ(commit.board()->progress().staged_bytes, 250'000);
      EXPECT_EQ(commit.try_to_end(pace), BackgroundCommit::Step::kNotYet);
    }
    EXPECT_TRUE(commit.write_piece(pace));
    EXPECT_EQ(commit.try_to_end(pace), BackgroundCommit::Step::kDone);
  });
  Bytes expected = data;
  std::fill(expected.begin() + 200'000, expected.begin() + 250'000, std::byte{0});
  EXPECT_EQ(access::test::content_of(memory, setting.path).size(), 300'000U);
  std::fill(expected.begin() + 250'000, expected.end(), std::byte{5});
  EXPECT_EQ(access::test::content_of(memory, setting.path), expected);
}

TEST(BackgroundWaits, RankZeroSaysThatAWaitLastsAndTheDeadlineEndsTheProcess) {
  Setting setting;
  setting.ranks = 2;
  setting.ranks_per_node = 2;
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path}, 0, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    const CallNote note("wait()", setting.path, {.warning_s = 1e-9, .deadline_s = 0});
    LongWait wait;
    wait.begin();
    testing::internal::CaptureStderr();
    commit.look_at_wait(wait);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, comm.rank() == 0 ? "stria: has waited 0 s for the commit of 'run.h5': 0.0 of 0.0 MB written\n" : "");
    comm.barrier();
  });
  setting.ranks = 1;
  setting.ranks_per_node = 1;
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path}, 0, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    const CallNote note("wait()", setting.path, {.warning_s = 0, .deadline_s = 1e-9});
    LongWait wait;
    wait.begin();
    EXPECT_EXIT(commit.look_at_wait(wait), testing::ExitedWithCode(EXIT_FAILURE), "'run.h5' is not committed");
  });
}

/// A commit of two nodes: each rank has its board, its connection and its handles, and then does
/// what `goes_on` says. Returns what rank 0's commit and rank 1's have said.
using GoesOn = std::function<void(Comm& comm, BackgroundCommit& commit)>;
struct Outcomes {
  std::string of_rank[2];
  bool has_file = false;
};
Outcomes commit_on_two_nodes(const GoesOn& before_joining, const GoesOn& goes_on) {
  Setting setting;
  setting.ranks = 2;
  storage::MemoryDriver memory;
  Outcomes outcomes;
  on_ranks(setting, [&](Comm& comm) {
    BackgroundCommit commit({.path = setting.path, .stored_path = setting.path}, 0, comm);
    ASSERT_EQ(commit.share(comm).message(), "");
    before_joining(comm, commit);
    ASSERT_EQ(commit.join(comm).message(), "");
    const bool is_root = commit.is_root();
    auto partial = is_root ? std::make_unique<PartialFile>(borrow(memory), setting.path) : nullptr;
    ASSERT_TRUE(!is_root || partial->create({}).ok());
    comm.barrier();
    auto opened = memory.open(partial_path(setting.path), {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    commit.take_handles({borrow(memory), std::move(partial), is_root ? nullptr : std::move(opened), nullptr, nullptr});
    goes_on(comm, commit);
    outcomes.of_rank[comm.rank()] = commit.outcome().message();
  });
  outcomes.has_file = *memory.exists(setting.path);
  return outcomes;
}

void nothing(Comm& /*comm*/, BackgroundCommit& /*commit*/) {}

void end(Comm& comm, BackgroundCommit& commit) {
  Pace pace;
  for (int attempt = 0; commit.try_to_end(pace) == BackgroundCommit::Step::kNotYet; ++attempt) {
    comm.pause(attempt);
  }
}

/// Returns what the other node says where one is lost when it has joined.
std::string outcome_without(int lost_rank) {
  const Outcomes outcomes = commit_on_two_nodes(nothing, [&](Comm& comm, BackgroundCommit& commit) {
    if (comm.rank() != lost_rank) {
      write(commit);
      end(comm, commit);
    }
  });
  EXPECT_FALSE(outcomes.has_file);
  return outcomes.of_rank[1 - lost_rank];
}

/// Says whether a descriptor is a connection of this process by the network, or listens for some.
enum class Kind { kOther, kConnected, kListening };
Kind kind_of(int descriptor, sockaddr_storage& address) {
  socklen_t bytes = sizeof address;
  int listens = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6)) {
    return Kind::kOther;
  }
  return listens != 0 ? Kind::kListening : Kind::kConnected;
}

template <typename Body>
void for_each_descriptor(Kind kind, const Body& body) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    sockaddr_storage address{};
    if (kind_of(descriptor, address) == kind) {
      body(descriptor, address);
    }
  }
}

/// Ends every connection of this process, as a cut does that the system has noticed.
void cut_links() {
  int count = 0;
  for_each_descriptor(Kind::kConnected, [&](int descriptor, const sockaddr_storage&) {
    shutdown(descriptor, SHUT_RDWR);
    ++count;
  });
  EXPECT_EQ(count, 2);
}

/// Two nodes whose link is cut before the second has told that it has written, or just after.
Outcomes cut(bool after_telling) {
  bool is_cut = false;
  return commit_on_two_nodes(nothing, [&](Comm& comm, BackgroundCommit& commit) {
    write(commit);
    if (comm.rank() == 1) {
      if (after_telling) {
        Pace pace;
        EXPECT_EQ(commit.try_to_end(pace), BackgroundCommit::Step::kNotYet);
      }
      cut_links();
      is_cut = true;
    }
    int attempt = 0;
    while (!is_cut) {
      comm.pause(attempt++);
    }
    end(comm, commit);
  });
}

/// Connects to whatever listens in this process, and says this.
Socket stranger(std::string_view words) {
  Socket made;
  for_each_descriptor(Kind::kListening, [&](int, const sockaddr_storage& listening) {
    const bool is_v6 = listening.ss_family == AF_INET6;
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there.sin_port = is_v6 ? reinterpret_cast<const sockaddr_in6&>(listening).sin6_port
                           : reinterpret_cast<const sockaddr_in&>(listening).sin_port;
    made = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  });
  if (made.is_open() && !words.empty()) {
    EXPECT_EQ(send(made.get(), words.data(), words.size(), MSG_NOSIGNAL), std::ssize(words));
  }
  return made;
}

/// Returns what a node says that doesn't know the secret, or knows another.
std::string words_of_a_node() {
  wire::Hello hello;
  hello.session[0] = std::byte{1};
  std::vector<std::byte> words = wire::encode(hello);
  words.resize(words.size() + sizeof(wire::Proof), std::byte{7});
  const auto length = static_cast<uint32_t>(words.size());
  std::string text(reinterpret_cast<const char*>(&length), sizeof length);
  return text.append(reinterpret_cast<const char*>(words.data()), words.size());
}

TEST(BackgroundNodes, ALostNodeFailsTheCommit) {
  EXPECT_NE(outcome_without(1).find("'run.h5' was not written: rank 1: its node can't be reached any more"), std::string::npos)
      << outcome_without(1);
  EXPECT_NE(outcome_without(0).find("rank 0 is gone, and may have given the file its name or not"), std::string::npos)
      << outcome_without(0);
}

TEST(BackgroundNodes, ALinkThatIsCutEndsTheCommitOnBothSides) {
  const Outcomes before = cut(false);
  EXPECT_FALSE(before.has_file);
  EXPECT_NE(before.of_rank[0].find("was not written: rank 1: its node can't be reached any more"), std::string::npos)
      << before.of_rank[0];
  EXPECT_NE(before.of_rank[1].find("rank 0 is gone"), std::string::npos) << before.of_rank[1];
  const Outcomes after = cut(true);
  EXPECT_TRUE(after.has_file);
  EXPECT_EQ(after.of_rank[0], "");
  EXPECT_NE(after.of_rank[1].find("may have given the file its name or not"), std::string::npos) << after.of_rank[1];
}

TEST(BackgroundNodes, StrangersAtThePortAreNotLetInAndKeepNobodyOut) {
  std::vector<Socket> strangers;
  const std::string node = words_of_a_node();
  const auto come = [&](Comm& comm, BackgroundCommit&) {
    for (int attempt = 0; comm.rank() == 1 && !(strangers.emplace_back(stranger("")).is_open()); ++attempt) {
      strangers.pop_back();  // rank 0 doesn't listen yet
      comm.pause(attempt);
    }
    for (int i = 0; comm.rank() == 1 && i < 200; ++i) {
      strangers.push_back(stranger(i % 4 == 0   ? "GET / HTTP/1.1\r\n\r\n"
                                   : i % 4 == 1 ? std::string_view(node)
                                   : i % 4 == 2 ? std::string_view(node).substr(0, 40)
                                                : ""));
    }
  };
  const Outcomes outcomes = commit_on_two_nodes(come, [](Comm& comm, BackgroundCommit& commit) {
    write(commit);
    end(comm, commit);
  });
  EXPECT_EQ(outcomes.of_rank[0], "");
  EXPECT_EQ(outcomes.of_rank[1], "");
  EXPECT_TRUE(outcomes.has_file);
  EXPECT_GT(strangers.size(), 200U);
}

}  // namespace
}  // namespace stria::file::test
