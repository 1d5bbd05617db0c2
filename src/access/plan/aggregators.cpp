#include "access/plan/aggregators.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace stria::access {

namespace {

uint64_t hash_of(std::string_view host) {
  return hash_bytes(std::as_bytes(std::span(host)));
}

/// The ranks of a node that may be aggregators.
using NodeRanks = std::vector<int>;

std::vector<NodeRanks> ranks_of_nodes(const Comm& comm) {
  const auto nodes = comm.node_of_rank();
  std::vector<NodeRanks> ranks(static_cast<size_t>(comm.node_count()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    ranks[static_cast<size_t>(nodes[static_cast<size_t>(rank)])].push_back(rank);
  }
  return ranks;
}

// Returns the lowest ranks of the first `wanted` nodes; fewer where there are fewer nodes. Nodes
// are numbered by their lowest ranks, so that only the ranks up to the last of these are looked at.
std::vector<int> lowest_ranks(const Comm& comm, int wanted) {
  const auto nodes = comm.node_of_rank();
  std::vector<int> ranks;
  for (size_t rank = 0; rank < nodes.size() && static_cast<int>(ranks.size()) < wanted; ++rank) {
    if (nodes[rank] == static_cast<int>(ranks.size())) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

bool matches(const AggregatorPlace& place, size_t node, const std::vector<uint64_t>& hosts) {
  return place.host == "*" || (node < hosts.size() && hosts[node] == hash_of(place.host));
}

// Returns the places that the list gives, nodes of earlier entries first. Without a list, all ranks
// of all nodes.
std::vector<NodeRanks> listed(const Comm& comm, const ResolvedHints& hints) {
  std::vector<NodeRanks> nodes = ranks_of_nodes(comm);
  if (hints.aggregator_places.empty()) {
    return nodes;
  }
  std::vector<NodeRanks> chosen;
  std::vector<bool> taken(nodes.size(), false);
  for (const AggregatorPlace& place : hints.aggregator_places) {
    for (size_t node = 0; node < nodes.size(); ++node) {
      if (taken[node] || !matches(place, node, hints.node_hosts)) {
        continue;
      }
      taken[node] = true;
      NodeRanks& ranks = nodes[node];
      ranks.resize(std::min(ranks.size(), static_cast<size_t>(place.most)));
      if (!ranks.empty()) {
        chosen.push_back(std::move(ranks));
      }
    }
  }
  return chosen;
}

}  // namespace

std::vector<uint64_t> hosts_of_nodes(Comm& comm, std::string_view own_host) {
  const uint64_t own = hash_of(own_host);
  if (comm.node_size() == comm.size()) {
    return {own};
  }
  std::vector<uint64_t> of_rank(static_cast<size_t>(comm.size()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(of_rank)));
  const auto nodes = comm.node_of_rank();
  std::vector<uint64_t> hosts(static_cast<size_t>(comm.node_count()));
  for (size_t rank = 0; rank < of_rank.size(); ++rank) {
    STRIA_ASSERT(nodes[rank] >= 0 && nodes[rank] < comm.node_count(), rank, nodes[rank], comm.node_count());
    hosts[static_cast<size_t>(nodes[rank])] = of_rank[rank];
  }
  return hosts;
}

bool names_a_node(const ResolvedHints& hints, const Comm& comm) {
  return !listed(comm, hints).empty();
}

std::string places_in_effect(const ResolvedHints& hints, const Comm& comm, std::span<const int> aggregators) {
  if (!hints.aggregator_places.empty() && names_a_node(hints, comm)) {
    return text_of(hints.aggregator_places);
  }
  std::vector<int64_t> of_node(static_cast<size_t>(comm.size()), 0);
  for (int rank : aggregators) {
    STRIA_ASSERT(rank >= 0 && rank < comm.size(), rank, comm.size());
    ++of_node[static_cast<size_t>(comm.node_of_rank()[static_cast<size_t>(rank)])];
  }
  return text_of({{"*", *std::max_element(of_node.begin(), of_node.end())}});
}

std::vector<int> choose_aggregators(const Comm& comm, const ResolvedHints& hints, int default_count, bool in_turns) {
  STRIA_ASSERT(default_count >= 1 && hints.aggregator_count >= 0, default_count, hints.aggregator_count);
  if (hints.aggregator_places.empty()) {
    const int count = hints.aggregator_count > 0 ? hints.aggregator_count : default_count;
    std::vector<int> lowest = lowest_ranks(comm, count);
    if (static_cast<int>(lowest.size()) == count) {
      return lowest;
    }
  }
  std::vector<NodeRanks> nodes = listed(comm, hints);
  const bool has_list = !hints.aggregator_places.empty() && !nodes.empty();
  if (nodes.empty()) {
    nodes = ranks_of_nodes(comm);
  }
  int wanted = has_list ? comm.size() : default_count;
  wanted = hints.aggregator_count > 0 ? hints.aggregator_count : wanted;
  std::vector<int> chosen;
  size_t turns = 0;
  for (const NodeRanks& ranks : nodes) {
    turns = std::max(turns, ranks.size());
  }
  for (size_t turn = 0; turn < turns && static_cast<int>(chosen.size()) < wanted; ++turn) {
    for (const NodeRanks& ranks : nodes) {
      if (turn < ranks.size() && static_cast<int>(chosen.size()) < wanted) {
        chosen.push_back(ranks[turn]);
      }
    }
  }
  if (!in_turns) {
    std::sort(chosen.begin(), chosen.end());
  }
  STRIA_CHECK(!chosen.empty() && static_cast<int>(chosen.size()) <= comm.size(), chosen.size(), comm.size());
  return chosen;
}

}  // namespace stria::access
