// The grid along whose axes contributions travel: aggregators that follow each other are a column,
// and each node belongs to a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "access/plan/plan.hpp"
#include "comm/comm.hpp"

namespace stria::access {

class AxesGrid {
 public:
  /// Makes the grid that this rank's node sees. \pre rows >= 1. May throw std::bad_alloc.
  AxesGrid(const Comm& comm, const ThroughAggregators& plan, int rows);

  int column_count() const { return column_count_; }
  int column_of(int aggregator) const { return aggregator / rows_; }
  /// Returns the first aggregator of a column, and the one behind its last, by index.
  std::pair<int, int> aggregators_of(int column) const;
  /// Returns the rank of this node that gathers what the node has for a column.
  int speaker(int column) const { return node_ranks_[static_cast<size_t>(column) % node_ranks_.size()]; }
  /// Returns the rank of the column, an aggregator, that gathers what the row of this node has for
  /// it.
  int relay(int column) const;

  /// Returns the ranks of this node, and those of them that are speakers.
  std::span<const int> node_ranks() const { return node_ranks_; }
  std::span<const int> speakers() const {
    return node_ranks().first(std::min(node_ranks_.size(), static_cast<size_t>(column_count_)));
  }
  bool is_speaker() const { return is_speaker_; }
  /// Returns the relays to which this rank speaks, and the speakers that speak to it.
  std::span<const int> relays() const { return relays_; }
  std::span<const int> row() const { return row_; }

 private:
  void find_row(const Comm& comm, int aggregator);

  const ThroughAggregators& plan_;
  int rows_;
  int column_count_;
  int node_ = 0;
  bool is_speaker_ = false;
  std::vector<int> node_ranks_;
  std::vector<int> relays_;
  std::vector<int> row_;
};

}  // namespace stria::access
