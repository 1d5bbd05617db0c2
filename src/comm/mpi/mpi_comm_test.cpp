#include "comm/mpi/mpi_comm.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "comm/conformance_test.hpp"

namespace stria {
namespace {

std::unique_ptr<Comm> make_world() {
  return make_mpi_comm(MPI_COMM_WORLD).value();
}

TEST(MpiComm, Conforms) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const auto comm = make_world();
    testing::check_comm(*comm, {.seed = seed, .rounds = 5});
  }
}

TEST(MpiComm, RefusesWhatIsNoCommunicator) {
  EXPECT_EQ(make_mpi_comm(MPI_COMM_NULL).status().code(), ErrorCode::kInvalidArgument);
}

TEST(MpiComm, KeepsApartFromTheApplicationsMessages) {
  const auto comm = make_world();
  int theirs = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&theirs, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  const int next = (comm->rank() + 1) % comm->size();
  const int previous = (comm->rank() + comm->size() - 1) % comm->size();
  int mine = comm->rank();
  int got = -1;
  const auto receive = comm->receive(std::as_writable_bytes(std::span(&got, 1)), previous, 0);
  const auto send = comm->send(std::as_bytes(std::span(&mine, 1)), next, 0);
  comm->wait(*send);
  comm->wait(*receive);
  EXPECT_EQ(got, previous);
  const int theirs_sent = 1000 + mine;
  MPI_Send(&theirs_sent, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(theirs, 1000 + previous);
}

TEST(MpiComm, ReportsImpossibleSharedMemoryOnEveryRank) {
  const auto comm = make_world();
  const int64_t too_much = int64_t{1} << 60;
  const auto shared = comm->allocate_shared(comm->rank() == comm->size() - 1 ? too_much : 4096);
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.status().code(), ErrorCode::kResourceExhausted) << shared.status().message();
}

TEST(MpiComm, WaitsWithoutBurningTheProcessor) {
  const auto comm = make_world();
  if (comm->size() < 2) {
    GTEST_SKIP() << "needs somebody to wait for";
  }
  comm->barrier();
  rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  if (comm->rank() == 0) {
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
  comm->barrier();
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  const auto microseconds = [](const timeval& time) { return time.tv_sec * 1000000L + time.tv_usec; };
  const long burnt = microseconds(after.ru_utime) + microseconds(after.ru_stime) - microseconds(before.ru_utime) -
                     microseconds(before.ru_stime);
  EXPECT_LT(burnt, 300000) << "microseconds of processor time in a wait of one second";
}

/// Not a check of speed, which a shared machine can't give: prints what the operations cost, and catches only the spinning kind
/// of slow.
TEST(MpiComm, SmallCollectivesAreQuick) {
  const auto comm = make_world();
  std::array<int64_t, 4> values{};
  const auto time_of = [&](auto operation) {
    constexpr int kRepeats = 200;
    comm->barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      operation();
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kRepeats;
  };
  const double broadcast = time_of([&] { comm->broadcast(std::as_writable_bytes(std::span(values)), 0); });
  const double reduction = time_of([&] { comm->all_reduce(std::span<int64_t>(values), ReduceOp::kMax); });
  const double barrier = time_of([&] { comm->barrier(); });
  if (comm->rank() == 0) {
    std::printf("%d ranks: broadcast %.1f us, all_reduce %.1f us, barrier %.1f us\n", comm->size(), broadcast, reduction,
                barrier);
  }
  EXPECT_LT(reduction, 20000.0);
}

}  // namespace
}  // namespace stria
