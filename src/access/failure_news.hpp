// Tells the aggregators of a collective write that one of them has failed, so that nobody writes on for a file that is lost.
//
// Problem: an aggregator hears of another only through contributors that they share, and often they share none. Method: the
// aggregators are the nodes of a binary heap; along each edge each side sends one token, the bad news when it comes or "all
// well" at the end, and looks for the other's between rounds. Cost: at most three short messages an aggregator each way, none
// where there is one; the news needs twice the logarithm of their number in rounds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "access/aggregation.hpp"
#include "comm/comm.hpp"

namespace stria::access {

class FailureNews {
 public:
  /// Every aggregator makes one, and in the end calls finish(); `aggregators` are their ranks, `comm.rank()` among them.
  FailureNews(Aggregation& aggregation, Comm& comm, std::span<const int> aggregators);

  /// Passes on that something has failed here or elsewhere. The first call counts.
  void tell();
  /// Whether another aggregator has told of a failure, which is passed on. Never blocks.
  bool heard();
  /// Sends the last tokens and waits for those of the neighbours.
  void finish();

 private:
  struct Neighbor {
    int rank = -1;
    int64_t word = 0;  ///< from there: 1 after a failure
    std::unique_ptr<CommRequest> request;
    bool has_spoken = false;
  };
  void send(int64_t word);

  Aggregation& aggregation_;
  Comm& comm_;
  std::array<Neighbor, 3> neighbors_;  // parent and children in the heap
  bool told_ = false;
};

}  // namespace stria::access
