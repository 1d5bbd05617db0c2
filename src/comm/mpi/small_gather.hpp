// A few bytes of every rank to every rank, where the ranks are on several nodes.
//
// Problem: MPI's nonblocking collectives don't ask which ranks share a node. A gathering of 8 ranks
// on 4 nodes is 56 messages, a reduction 14 in six steps that follow each other. Each message costs
// some microseconds of both ranks' processors, and small calls consist of little else.
// Method: the ranks of a node put their bytes into memory that they share, and count themselves in.
// The node's first rank waits for them and exchanges the bytes with the first ranks of the other
// nodes, by dissemination (Bruck et al. 1997): after step k it has the bytes of 2^k nodes. Then it
// puts all into the shared memory, and wakes its node. Two sets of places take turns, so that no
// rank overwrites what another still reads.
// Cost: log2(nodes) steps, one message per node and step; three copies of all bytes per node;
// 5 * kMostBytes of memory per node. Making one costs an allocation of shared memory.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace stria {

class SmallGather {
 public:
  static constexpr size_t kMostBytes = 16 << 10;  ///< the bytes of all ranks together

  /// Makes one for the ranks of `comm`, which lie over `world`. The first ranks of the nodes send
  /// each other messages with this tag. Collective: yes; the outcome is the same everywhere.
  static Result<std::unique_ptr<SmallGather>> create(Comm& comm, MPI_Comm world, int tag);

  SmallGather(const SmallGather&) = delete;
  SmallGather& operator=(const SmallGather&) = delete;

  /// Tells whether it takes so many bytes per rank.
  bool takes(size_t bytes) const { return bytes * places_.size() <= kMostBytes; }
  /// Returns the bytes of all ranks, in rank order. They stay until the next call. Needs no heap.
  /// Every rank gives as many. \pre takes(mine.size()). Collective: yes.
  std::span<const std::byte> gather(Comm& comm, std::span<const std::byte> mine);

 private:
  /// Holds what the node shares; the sets of bytes follow.
  struct alignas(64) State {
    std::atomic<uint32_t> arrived;  ///< ranks of the node, at all gatherings
    std::atomic<uint32_t> ended;    ///< gatherings
  };

  SmallGather(const Comm& comm, MPI_Comm world, int tag, std::shared_ptr<SharedBuffer> memory);
  std::byte* set(uint32_t number) const;
  size_t bytes_of(size_t first_node, size_t nodes, size_t bytes) const;
  void wait_until(Comm& comm, std::atomic<uint32_t>& word, uint32_t value) const;
  void exchange_with_nodes(Comm& comm, size_t bytes);
  void wait_for_message(Comm& comm, MPI_Request& request) const;
  void put_in_rank_order(std::byte* all, size_t bytes) const;

  MPI_Comm world_;
  int tag_;
  std::shared_ptr<SharedBuffer> memory_;
  State* state_;
  bool is_first_;  // whether it is the first of its node
  size_t node_;    // this rank's
  uint32_t node_size_;
  size_t node_rank_;
  std::vector<int> firsts_;      // the first rank of each node
  std::vector<size_t> begins_;   // the place of each node's first rank; then the number of all
  std::vector<int> places_;      // the rank at each place: node by node, in rank order within them
  std::vector<std::byte> held_;  // the bytes of this node and those after it; first ranks only
  uint32_t gatherings_ = 0;
};

}  // namespace stria
