// Random cases on ranks of MPI that count as several nodes, compared with a file that is written
// byte by byte.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "access/context/context.hpp"
#include "access/random_case_test.hpp"
#include "access/request/endpoint.hpp"
#include "access/together/exchange/kept_buffers.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "storage/registry/registry.hpp"

namespace stria::access::test {

/// The method that is tested. Its functions are called on all ranks; both moves of a case get the
/// same buffers.
struct MethodOfRanks {
  using Move = std::function<Moved(Context& context, const Case& c, Endpoint endpoint, KeptBuffers& kept)>;
  std::string name;  ///< the name of the file, too
  std::function<void(Case&)> prepare;
  Move move;
};

/// Returns the next case from `seed` on that has the right number of ranks.
inline Case next_case_of(uint64_t& seed, int ranks) {
  while (true) {
    Case c = make_case(seed++);
    if (c.simulation.ranks == ranks) {
      return c;
    }
  }
}

inline void check_case(Comm& comm, storage::Driver& driver, const std::string& path, const Case& c,
                       const MethodOfRanks& method) {
  const RankCase& mine = c.ranks[static_cast<size_t>(comm.rank())];
  if (comm.rank() == 0) {
    set_content(driver, path, c.before);
  }
  comm.barrier();
  auto file = driver.open(path, {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
  PhaseTimes times;
  Context context{comm, file.get(), c.hints, times};
  KeptBuffers kept;
  CaseSource source(mine);
  const Moved written = method.move(context, c, Endpoint::of_write(source), kept);
  ASSERT_TRUE(written.status.ok()) << written.status.message();
  ASSERT_EQ(written.bytes, total_bytes(mine.lanes));
  comm.barrier();
  if (comm.rank() == 0) {
    ASSERT_TRUE(content_of(driver, path) == c.after);
  }
  CaseSink sink(mine);
  const Moved read = method.move(context, c, Endpoint::of_read(sink), kept);
  ASSERT_TRUE(read.status.ok()) << read.status.message();
  ASSERT_TRUE(sink.received() == mine.packed);
  comm.barrier();
}

/// Checks so many cases on nodes of one, two and three ranks.
inline void check_on_nodes(const MethodOfRanks& method, int usual_cases) {
  auto driver = storage::make_driver("posix").value();
  for (int ranks_per_node : {1, 2, 3}) {
    setenv("STRIA_RANKS_PER_NODE", std::to_string(ranks_per_node).c_str(), 1);
    auto comm = make_mpi_comm(MPI_COMM_WORLD).value();
    const int rank = comm->rank();
    ASSERT_EQ(comm->node_of_rank()[static_cast<size_t>(rank)], rank / ranks_per_node);
    int64_t process = getpid();
    comm->broadcast(std::as_writable_bytes(std::span(&process, 1)), 0);
    const std::string path =
        (std::filesystem::current_path() / ("stria-" + method.name + "-" + std::to_string(process))).string();
    uint64_t seed = first_seed();
    for (int i = 0; i < case_count(usual_cases) && !::testing::Test::HasFatalFailure(); ++i) {
      Case c = next_case_of(seed, comm->size());
      method.prepare(c);
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed) + " STRIA_TEST_CASES=1: " + std::to_string(ranks_per_node) +
                   " ranks a node");
      check_case(*comm, *driver, path, c, method);
    }
    comm->barrier();
    if (rank == 0) {
      std::filesystem::remove(path);
    }
  }
}

}  // namespace stria::access::test
