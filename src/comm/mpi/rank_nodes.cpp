#include "comm/mpi/rank_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "comm/mpi/mpi_request.hpp"
#include "comm/mpi/node_memory.hpp"
#include "comm/waiting.hpp"

namespace stria {

namespace {

constexpr size_t kHostBytes = 64;

// STRIA_RANKS_PER_NODE=N: each group of N ranks of a node counts as a node.
void divide_node(MPI_Comm& node) {
  const char* text = std::getenv("STRIA_RANKS_PER_NODE");
  const int most = text == nullptr ? 0 : std::atoi(text);
  if (most <= 0) {
    return;
  }
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(node, rank / most, rank, &part);
  MPI_Comm_free(&node);
  node = part;
}

std::vector<std::string> find_hosts(MPI_Comm world, const std::vector<int>& leaders) {
  const std::string own = host_name();
  if (leaders.size() == 1) {
    return {own};
  }
  int ranks = 1;
  MPI_Comm_size(world, &ranks);
  std::array<char, kHostBytes> mine{};
  own.copy(mine.data(), mine.size() - 1);
  std::vector<char> all(kHostBytes * static_cast<size_t>(ranks));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(mine.data(), kHostBytes, MPI_CHAR, all.data(), kHostBytes, MPI_CHAR, world, &request);
  wait_politely(request);
  std::vector<std::string> hosts;
  for (const int leader : leaders) {
    hosts.emplace_back(&all[kHostBytes * static_cast<size_t>(leader)]);
  }
  return hosts;
}

}  // namespace

MPI_Comm make_node_communicator(MPI_Comm world) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  divide_node(node);
  keep_ranks_that_share(node);
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(world, node, &result);
  if (result == MPI_CONGRUENT) {
    MPI_Comm_free(&node);
    return world;
  }
  return node;
}

RankNodes find_nodes(MPI_Comm world, MPI_Comm node) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  int leader = rank;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&leader, 1, MPI_INT, 0, node, &request);
  wait_politely(request);
  std::vector<int> of_rank(static_cast<size_t>(ranks));
  MPI_Iallgather(&leader, 1, MPI_INT, of_rank.data(), 1, MPI_INT, world, &request);
  wait_politely(request);
  std::vector<int> leaders(of_rank);
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  for (int& number : of_rank) {
    number = static_cast<int>(std::lower_bound(leaders.begin(), leaders.end(), number) - leaders.begin());
  }
  return {std::move(of_rank), find_hosts(world, leaders)};
}

}  // namespace stria
