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

TEST(MpiComm, KeepsOneForEachCommunicator) {
  const std::shared_ptr<Comm> first = cached_mpi_comm(MPI_COMM_WORLD).value();
  EXPECT_EQ(cached_mpi_comm(MPI_COMM_WORLD).value(), first);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  const std::shared_ptr<Comm> second = cached_mpi_comm(duplicate).value();
  EXPECT_NE(second, first);
  MPI_Comm_free(&duplicate);
  second->barrier();  // whoever holds it may go on using it
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_FALSE(cached_mpi_comm(MPI_COMM_NULL).ok());
}

}  // namespace
}  // namespace stria
