#include "comm/mpi/mpi_comm.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "comm/conformance_test.hpp"
#include "comm/mpi/parking.hpp"
#include "support/sanitized.hpp"

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

TEST(MpiComm, ReportsImpossibleSharedMemoryOnTheWholeNode) {
  const auto comm = make_world();
  const int64_t too_much = int64_t{1} << 60;
  const auto shared = comm->allocate_shared(comm->rank() == comm->size() - 1 ? too_much : 4096);
  const auto nodes = comm->node_of_rank();
  if (nodes[static_cast<size_t>(comm->rank())] == nodes.back()) {
    ASSERT_FALSE(shared.ok());
    EXPECT_EQ(shared.status().code(), ErrorCode::kResourceExhausted) << shared.status().message();
  } else {
    EXPECT_TRUE(shared.ok()) << shared.status().message();
  }
}

/// A file that is open under very many descriptors. A rank that takes another rank's descriptor for
/// one of its own would find this file.
class StrangersFile {
 public:
  StrangersFile() {
    EXPECT_EQ(std::fwrite(content_.data(), 1, content_.size(), file_), content_.size());
    std::fflush(file_);
    for (int& descriptor : descriptors_) {
      descriptor = dup(fileno(file_));
    }
  }
  ~StrangersFile() {
    for (const int descriptor : descriptors_) {
      close(descriptor);
    }
    std::fclose(file_);
  }
  StrangersFile(const StrangersFile&) = delete;
  StrangersFile& operator=(const StrangersFile&) = delete;

  bool is_as_it_was() const {
    std::string now(2 * content_.size(), '\0');
    const ssize_t bytes = pread(fileno(file_), now.data(), now.size(), 0);
    return bytes == static_cast<ssize_t>(content_.size()) && now.compare(0, content_.size(), content_) == 0;
  }

 private:
  const std::string content_ = std::string(10000, 's');
  std::FILE* file_ = std::tmpfile();
  std::array<int, 200> descriptors_{};
};

// Works too where each rank has process numbers of its own, as in a container (STRIA_TEST_APART).
TEST(MpiComm, SharesMemoryWithItsNodeOnly) {
  auto first = std::make_unique<StrangersFile>();
  // Descriptors that are free on this rank are taken on the others.
  const StrangersFile second;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    first.reset();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto comm = make_world();
  if (std::getenv("STRIA_TEST_APART") != nullptr) {
    EXPECT_EQ(comm->node_size(), 1);
    EXPECT_EQ(comm->node_of_rank().back(), comm->size() - 1);
  }
  const auto shared = comm->allocate_shared(comm->node_rank() == 0 ? 20000 : 0);
  ASSERT_TRUE(shared.ok()) << shared.status().message();
  const auto part = (*shared)->part(0);
  if (comm->node_rank() == 0) {
    std::fill(part.begin(), part.end(), static_cast<std::byte>(comm->rank()));
  }
  comm->barrier();
  const auto nodes = comm->node_of_rank();
  const auto leader = std::find(nodes.begin(), nodes.end(), nodes[static_cast<size_t>(comm->rank())]) - nodes.begin();
  EXPECT_TRUE(std::all_of(part.begin(), part.end(), [&](std::byte byte) { return byte == static_cast<std::byte>(leader); }));
  EXPECT_TRUE(second.is_as_it_was());
  EXPECT_TRUE(first == nullptr || first->is_as_it_was());
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

int64_t mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Leaves this process room for so many more bytes as long as it lives.
class ScarceMemory {
 public:
  explicit ScarceMemory(int64_t room_bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit scarce{static_cast<rlim_t>(mapped_bytes() + room_bytes), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &scarce), 0);
  }
  ~ScarceMemory() { setrlimit(RLIMIT_AS, &before_); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

 private:
  rlimit before_{};
};

TEST(MpiComm, KeepsAMessageForWhichThereIsNoRoom) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer's own memory is beyond any limit";
  }
  const auto comm = make_world();
  constexpr int kTag = 9;
  constexpr size_t kBytes = size_t{96} << 20;
  const std::vector<std::byte> sent(comm->rank() == 0 ? kBytes : 0, std::byte{7});
  const auto send = comm->rank() == 0 ? comm->send(sent, comm->size() - 1, kTag) : nullptr;
  if (comm->rank() == comm->size() - 1) {
    std::vector<std::byte> got;
    int lacked = 0;
    std::optional<int> from;
    for (int attempt = 0; !from; ++attempt) {
      try {
        const ScarceMemory scarce(lacked < 3 ? int64_t{32} << 20 : int64_t{1} << 40);
        from = comm->take_message(kTag, got);
      } catch (const std::bad_alloc&) {
        ++lacked;
      }
      comm->pause(attempt);
    }
    EXPECT_EQ(lacked, 3);
    EXPECT_EQ(*from, 0);
    EXPECT_EQ(got.size(), kBytes);
    EXPECT_EQ(std::count(got.begin(), got.end(), std::byte{7}), static_cast<std::ptrdiff_t>(kBytes));
  }
  if (send != nullptr) {
    comm->wait(*send);
  }
}

TEST(MpiComm, EndsAnExchangeForWhichOneRankHasNoRoom) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer's own memory is beyond any limit";
  }
  const auto comm = make_world();
  const int last = comm->size() - 1;
  constexpr size_t kBytes = size_t{96} << 20;
  Comm::Messages outgoing;
  if (comm->rank() == 0) {
    outgoing.emplace_back(last, std::vector<std::byte>(kBytes, std::byte{7}));
  }
  for (const int64_t room_mb : {32, 1 << 20, 32}) {
    const bool fits = room_mb > 32;
    const auto exchange = [&] {
      std::optional<ScarceMemory> scarce;
      if (comm->rank() == last) {
        scarce.emplace(room_mb << 20);
      }
      return comm->sparse_exchange(outgoing);
    };
    if (!fits) {
      EXPECT_THROW(static_cast<void>(exchange()), std::bad_alloc);
      continue;
    }
    const Comm::Messages got = exchange();
    ASSERT_EQ(got.size(), comm->rank() == last ? 1u : 0u);
    EXPECT_TRUE(got.empty() || (got[0].first == 0 && got[0].second == std::vector<std::byte>(kBytes, std::byte{7})));
  }
}

// A rank must not wait for the others when one of its objects is destroyed.
TEST(MpiComm, ThoseThatGoInAnyOrderAreFreedWhenAnotherIsMade) {
  std::array<std::unique_ptr<Comm>, 3> comms;
  for (auto& comm : comms) {
    comm = make_mpi_comm(MPI_COMM_WORLD).value();
  }
  const int rank = comms[0]->rank();
  EXPECT_EQ(parked_communicator_count(), 0u);
  const auto odd = static_cast<size_t>(rank) % 2;  // ranks differ in which they destroy
  const int ranks = comms[0]->size();
  comms[odd].reset();
  const auto second = make_mpi_comm(MPI_COMM_WORLD).value();
  EXPECT_EQ(parked_communicator_count(), ranks == 1 ? 0u : 1u) << "others still use it";
  comms[1 - odd].reset();
  comms[2].reset();
  const auto third = make_mpi_comm(MPI_COMM_WORLD).value();
  EXPECT_EQ(parked_communicator_count(), 0u);
}

TEST(MpiComm, KeepsOneForEachCommunicator) {
  const std::shared_ptr<Comm> first = cached_mpi_comm(MPI_COMM_WORLD).value();
  EXPECT_EQ(cached_mpi_comm(MPI_COMM_WORLD).value(), first);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  const std::shared_ptr<Comm> second = cached_mpi_comm(duplicate).value();
  EXPECT_NE(second, first);
  MPI_Comm_free(&duplicate);
  second->barrier();  // a holder may go on using it
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_FALSE(cached_mpi_comm(MPI_COMM_NULL).ok());
}

}  // namespace
}  // namespace stria
