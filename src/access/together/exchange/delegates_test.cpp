// Ranks of MPI that count as several nodes, so that delegates speak for them, compared with a file
// that is written byte by byte.
#include "access/together/exchange/delegates.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "access/random_case_test.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "storage/registry/registry.hpp"

namespace stria::access::test {
namespace {

/// The next case from `seed` on that has the right number of ranks.
Case next_case(uint64_t& seed, int ranks) {
  while (true) {
    Case c = make_case(seed++);
    if (c.simulation.ranks == ranks) {
      c.plan.shared_memory = true;
      c.plan.gather_on_nodes = true;
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
  CaseSource source(mine);
  const Moved written = write_two_phase_agreed(context, c.plan, mine.lanes, source);
  ASSERT_TRUE(written.status.ok()) << written.status.message();
  ASSERT_EQ(written.bytes, total_bytes(mine.lanes));
  comm.barrier();
  if (comm.rank() == 0) {
    ASSERT_TRUE(content_of(driver, path) == c.after);
  }
  CaseSink sink(mine);
  const Moved read = read_two_phase(context, c.plan, mine.lanes, sink);
  ASSERT_TRUE(read.status.ok()) << read.status.message();
  ASSERT_TRUE(sink.received() == mine.packed);
  comm.barrier();
}

TEST(NodeDelegates, MoveWhatRanksOfSeveralNodesBring) {
  auto driver = storage::make_driver("posix").value();
  for (int ranks_per_node : {1, 2, 3}) {
    setenv("STRIA_RANKS_PER_NODE", std::to_string(ranks_per_node).c_str(), 1);
    auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
    const int rank = comm->rank();
    ASSERT_EQ(comm->node_of_rank()[static_cast<size_t>(rank)], rank / ranks_per_node);
    int64_t process = getpid();
    comm->broadcast(std::as_writable_bytes(std::span(&process, 1)), 0);
    const std::string path = (std::filesystem::current_path() / ("stria-delegates-" + std::to_string(process))).string();
    uint64_t seed = first_seed();
    for (int i = 0; i < case_count(25) && !::testing::Test::HasFatalFailure(); ++i) {
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
