// Learns which ranks send how much, where no rank knows who will send to it.
//
// Method: nonblocking consensus (Hoefler, Siebert, Lumsdaine 2010, "Scalable Communication
// Protocols for Dynamic Sparse Data Exchange", NBX). Sizes go by synchronous sends, which end only
// when they were received. A rank whose sends have ended enters a barrier; when the barrier ends,
// no message is under way. A rank may be one exchange ahead of another, but no more, so that two
// tags tell exchanges apart.
// Cost: a message for each that will follow, and a barrier.
#pragma once

#include <mpi.h>

#include <array>

#include "comm/comm.hpp"

namespace stria {

class SparseSizes {
 public:
  /// Serves the ranks of `world`; `tags` are those of even and of odd exchanges.
  SparseSizes(MPI_Comm world, std::array<int, 2> tags) : world_(world), tags_(tags) {}

  /// Announces the messages of other ranks than this, and returns those that will come: their
  /// senders, and room for their bytes. `comm` waits between two looks. Collective: yes.
  Comm::Messages exchange(Comm& comm, const Comm::Messages& outgoing);

 private:
  bool receive(int tag, Comm::Messages& incoming) const;

  MPI_Comm world_;
  std::array<int, 2> tags_;
  size_t exchanges_ = 0;
};

}  // namespace stria
