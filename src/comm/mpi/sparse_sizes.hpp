// Learns which ranks send how much, where no rank knows who will send to it.
//
// Method: nonblocking consensus (Hoefler, Siebert, Lumsdaine 2010, "Scalable Communication
// Protocols for Dynamic Sparse Data Exchange", NBX). Sizes go by synchronous sends, which end only
// when they were received. A rank whose sends have ended enters a reduction, which ends like a
// barrier when all ranks are in it: then no message is under way. It finds the largest size. A rank
// may be one exchange ahead of another, but no more, so that two tags tell exchanges apart.
// Cost: a message for each that will follow, and a reduction of one number.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/comm.hpp"

namespace stria {

class SparseSizes {
 public:
  /// Serves the ranks of `world`; `tags` are those of even and of odd exchanges.
  SparseSizes(MPI_Comm world, std::array<int, 2> tags) : world_(world), tags_(tags) {}

  struct Announced {
    std::vector<std::pair<int, int64_t>> coming{};  ///< sender and bytes of each
    int64_t largest = 0;                            ///< the most bytes that any rank sends to one
  };
  /// Announces this rank's messages to others, and returns what they announce. `comm` waits between
  /// two looks. Collective: yes.
  Announced exchange(Comm& comm, const Comm::Messages& outgoing);

 private:
  bool receive(int tag, Announced& announced) const;

  MPI_Comm world_;
  std::array<int, 2> tags_;
  size_t exchanges_ = 0;
};

}  // namespace stria
