// Keeps which other ranks have nothing more to say to this one after a failure.
#pragma once

#include <set>
#include <utility>

namespace stria::access {

struct Parted {
  /// Aggregators that this rank meets and that have failed.
  std::set<int> aggregators;
  /// Speakers of contributors to which this aggregator has reported its failure.
  std::set<int> speakers;
  /// Aggregators, and the ranks for which this one speaks and to which it has reported their
  /// failure.
  std::set<std::pair<int, int>> carried;
};

}  // namespace stria::access
