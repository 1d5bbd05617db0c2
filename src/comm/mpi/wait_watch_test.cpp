// When ranks wait for long, one line says for which ranks.
#include "comm/mpi/wait_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm/mpi/mpi_comm.hpp"

namespace stria {
namespace {

constexpr WaitLimits kSoon{1, 0};
constexpr auto kLate = std::chrono::milliseconds(3000);

/// Returns what this rank writes to standard error during a call of all ranks, to which some come
/// late.
std::string words_of(Comm& comm, bool late, const WaitLimits& limits = kSoon) {
  comm.barrier();
  testing::internal::CaptureStderr();
  if (late) {
    std::this_thread::sleep_for(kLate);
  }
  {
    const CallNote note("commit()", "a_file", limits);
    comm.barrier();
  }
  const std::string words = testing::internal::GetCapturedStderr();
  std::fputs(words.c_str(), stderr);
  return words;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `attempt` returns what was wrong on this rank. On a busy machine another rank may be late, too,
/// and be named or speak; so there are three tries. All ranks call this.
void expect_in_three_tries(const std::function<std::string()>& attempt) {
  constexpr int kTries = 3;
  std::string wrong;
  for (int i = 0; i < kTries; ++i) {
    wrong = attempt();
    int somewhere = wrong.empty() ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (somewhere == 0) {
      return;
    }
  }
  EXPECT_EQ(wrong, "");
}

TEST(WaitWatch, TheLowestOfThoseThatWaitNamesTheOneThatIsLate) {
  const auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
  const int last = comm->size() - 1;
  for (const int late : {0, last}) {
    const int speaker = late == 0 ? 1 : 0;
    const std::string who = "stria: rank " + std::to_string(speaker) + " on " + host_name() + " has waited ";
    const std::string whom = " s in commit() of 'a_file' for rank " + std::to_string(late) + " on " + host_name() +
                             ", which still reads or writes, is not in this call, has ended, or can't be reached";
    expect_in_three_tries([&] {
      const std::string words = words_of(*comm, comm->rank() == late);
      const bool speaks = comm->rank() == speaker && last > 0;
      const bool is_right = speaks ? has(words, who) && has(words, whom) : words.empty();
      return is_right ? "" : "rank " + std::to_string(comm->rank()) + " said: " + words;
    });
  }
}

TEST(WaitWatch, OneLineNamesSeveral) {
  const auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
  if (comm->size() < 3) {
    GTEST_SKIP() << "several ranks besides one that waits";
  }
  expect_in_three_tries([&] {
    const std::string words = words_of(*comm, comm->rank() > 0);
    const bool names = has(words, " for ranks 1-" + std::to_string(comm->size() - 1) + " on ");
    return names == (comm->rank() == 0) ? "" : "rank " + std::to_string(comm->rank()) + " said: " + words;
  });
}

TEST(WaitWatch, SaysThatNobodyIsElsewhere) {
  const auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
  comm->barrier();
  testing::internal::CaptureStderr();
  {
    const CallNote note(comm->rank() == 0 ? "flush()" : "commit()", "a_file", kSoon);
    const auto end = std::chrono::steady_clock::now() + kLate;
    for (int attempt = 0; std::chrono::steady_clock::now() < end; ++attempt) {
      comm->pause(attempt);
    }
  }
  const std::string words = testing::internal::GetCapturedStderr();
  const bool speaks = comm->rank() == 0 && comm->size() > 1;
  EXPECT_EQ(has(words, "all of them wait as well, rank 1 in commit(): do all ranks make the same calls"), speaks) << words;
  comm->barrier();
}

TEST(WaitWatch, SaysNothingWhereThatIsNotWanted) {
  const auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
  EXPECT_EQ(words_of(*comm, comm->rank() == 0, {0, 0}), "");
}

TEST(DescribeRanks, JoinsNeighboursOfANode) {
  const std::vector<int> nodes{0, 0, 1, 1, 2, 2, 3, 3};
  const std::vector<std::string> hosts{"n1", "n2", "n3", "n4"};
  EXPECT_EQ(describe_ranks(std::vector{5}, nodes, hosts), "rank 5 on n3");
  EXPECT_EQ(describe_ranks(std::vector{1, 2, 3, 4}, nodes, hosts), "ranks 1 on n1, 2-3 on n2, 4 on n3");
  const std::vector<int> alternating{0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_EQ(describe_ranks(std::vector{0, 1, 2, 3, 4, 5, 6, 7}, alternating, hosts),
            "ranks 0 on n1, 1 on n2, 2 on n1, 3 on n2, 4 on n1, 5 on n2 and 2 more");
}

}  // namespace
}  // namespace stria
