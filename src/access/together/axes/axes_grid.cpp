#include "access/together/axes/axes_grid.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

AxesGrid::AxesGrid(const Comm& comm, const ThroughAggregators& plan, int rows) : plan_(plan), rows_(rows) {
  STRIA_CHECK(rows >= 1, rows);
  const auto count = static_cast<int>(plan.aggregators.size());
  column_count_ = (count + rows - 1) / rows;
  const auto nodes = comm.node_of_rank();
  node_ = nodes[static_cast<size_t>(comm.rank())];
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (nodes[static_cast<size_t>(rank)] == node_) {
      node_ranks_.push_back(rank);
    }
  }
  const auto among = std::find(speakers().begin(), speakers().end(), comm.rank());
  is_speaker_ = among != speakers().end();
  for (int column = 0; column < column_count_; ++column) {
    if (speaker(column) == comm.rank()) {
      relays_.push_back(relay(column));
    }
  }
  const auto mine = std::find(plan.aggregators.begin(), plan.aggregators.end(), comm.rank());
  if (mine != plan.aggregators.end()) {
    find_row(comm, static_cast<int>(mine - plan.aggregators.begin()));
  }
  // A rank that speaks to itself is its own relay: here both sides can be seen.
  const auto names_me = [&](const std::vector<int>& ranks) {
    return std::find(ranks.begin(), ranks.end(), comm.rank()) != ranks.end();
  };
  STRIA_ASSERT(names_me(relays_) == names_me(row_), rows, column_count_, relays_.size(), row_.size());
}

// Finds the nodes whose row this aggregator serves in its column: one rank of each speaks to it.
void AxesGrid::find_row(const Comm& comm, int aggregator) {
  const int column = column_of(aggregator);
  const auto [first, last] = aggregators_of(column);
  const auto nodes = comm.node_of_rank();
  std::vector<int> sizes(static_cast<size_t>(comm.node_count()), 0);
  for (const int node : nodes) {
    ++sizes[static_cast<size_t>(node)];
  }
  std::vector<int> passed(sizes.size(), 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto node = static_cast<size_t>(nodes[static_cast<size_t>(rank)]);
    const bool speaks = passed[node]++ == column % sizes[node];
    if (speaks && static_cast<int>(node) % (last - first) == aggregator - first) {
      row_.push_back(rank);
    }
  }
}

std::pair<int, int> AxesGrid::aggregators_of(int column) const {
  STRIA_CHECK(0 <= column && column < column_count_, column, column_count_);
  const int first = column * rows_;
  return {first, std::min(first + rows_, static_cast<int>(plan_.aggregators.size()))};
}

int AxesGrid::relay(int column) const {
  const auto [first, last] = aggregators_of(column);
  return plan_.aggregators[static_cast<size_t>(first + node_ % (last - first))];
}

}  // namespace stria::access
