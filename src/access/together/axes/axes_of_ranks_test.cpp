// Ranks of MPI that count as several nodes, whose contributions travel along the axes of grids,
// compared with a file that is written byte by byte.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "access/random_case_test.hpp"
#include "access/together/axes/by_axes.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "storage/registry/registry.hpp"

namespace stria::access::test {
namespace {

/// The next case from `seed` on that has the right number of ranks.
Case next_case(uint64_t& seed, int ranks) {
  while (true) {
    Case c = make_case(seed++);
    if (c.simulation.ranks == ranks) {
      c.plan.stripe_count = 1;
      return c;
    }
  }
}

void check_case(Comm& comm, storage::Driver& driver, const std::string& path, const Case& c) {
  const RankCase& mine = c.ranks[static_cast<size_t>(comm.rank())];
  if (comm.rank() == 0) {
    set_content(driver, path, c.before);
  }
  comm.barrier();
  auto file = driver.open(path, {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
  PhaseTimes times;
  Context context{comm, file.get(), c.hints, times};
  KeptBuffers kept;
  const ByAxes by{.rows = 1 + static_cast<int>(c.seed % 3), .kept = &kept};
  CaseSource source(mine);
  const Moved written = move_by_axes(context, c.plan, mine.lanes, Endpoint::of_write(source), by);
  ASSERT_TRUE(written.status.ok()) << written.status.message();
  ASSERT_EQ(written.bytes, total_bytes(mine.lanes));
  comm.barrier();
  if (comm.rank() == 0) {
    ASSERT_TRUE(content_of(driver, path) == c.after);
  }
  CaseSink sink(mine);
  const Moved read = move_by_axes(context, c.plan, mine.lanes, Endpoint::of_read(sink), by);
  ASSERT_TRUE(read.status.ok()) << read.status.message();
  ASSERT_TRUE(sink.received() == mine.packed);
  comm.barrier();
}

TEST(AxesOfRanks, MoveWhatRanksOfSeveralNodesBring) {
  auto driver = storage::make_driver("posix").value();
  for (int ranks_per_node : {1, 2, 3}) {
    setenv("STRIA_RANKS_PER_NODE", std::to_string(ranks_per_node).c_str(), 1);
    auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
    const int rank = comm->rank();
    int64_t process = getpid();
    comm->broadcast(std::as_writable_bytes(std::span(&process, 1)), 0);
    const std::string path = (std::filesystem::current_path() / ("stria-axes-" + std::to_string(process))).string();
    uint64_t seed = first_seed();
    for (int i = 0; i < case_count(20) && !::testing::Test::HasFatalFailure(); ++i) {
      const Case c = next_case(seed, comm->size());
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed) + " STRIA_TEST_CASES=1: " + std::to_string(ranks_per_node) +
                   " ranks a node");
      check_case(*comm, *driver, path, c);
    }
    comm->barrier();
    if (rank == 0) {
      std::filesystem::remove(path);
    }
  }
}

}  // namespace
}  // namespace stria::access::test
