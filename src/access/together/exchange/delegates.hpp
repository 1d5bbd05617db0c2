// Decides which rank of a node speaks for the others to an aggregator on another node.
//
// Problem: a node has many ranks. If each sends its own description, tokens and bytes to every
// aggregator that it meets, the messages between nodes grow with the ranks, although their bytes
// lie side by side in one memory.
// Method (intra-node aggregation: Kang et al. 2020, "Improving MPI Collective I/O for High Volume
// Non-Contiguous Requests With Intra-Node Aggregation", IEEE TPDS 31(11); PnetCDF 1.14 has it above
// MPI-IO): of the ranks of a node that meet the same aggregator on another node, one is the
// delegate. Different aggregators get different delegates. The ranks leave their descriptions in
// memory that the node shares; delegates read them and send them as one message. In each round the
// ranks pack into the delegate's staging buffer, one behind another, and the delegate sends all of
// it at once. Nothing is copied more often than without delegates. Where only one rank of the node
// meets an aggregator, it speaks for itself.
// Cost: between nodes, one description, and three messages per round, for each node and aggregator
// that meet. Within a node, some 3 log2(ranks) short messages per operation, and two tokens per
// round for each rank that doesn't speak for itself.
// Memory: delegates hold the descriptions of the ranks for which they speak, and what those bring
// to or want from their aggregators in one round; the ranks' own messages would take as much.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/exchange/kept_buffers.hpp"
#include "comm/comm.hpp"

namespace stria::access {

/// Says what a delegate carries to or from an aggregator in a round. The parts lie one behind
/// another in its staging buffer.
struct Load {
  struct Part {
    int rank = 0;  ///< the rank that has or wants the bytes; parts come by increasing rank
    int64_t bytes = 0;
    int64_t offset = 0;  ///< in the delegate's staging buffer
  };
  int aggregator = 0;  ///< its index
  std::vector<Part> parts;
  int64_t offset = 0;
  int64_t bytes = 0;  ///< the bytes of all parts, shared ones once
};

class NodeDelegates {
 public:
  /// A rank of this node and what it has told the others.
  struct Member {
    int rank = 0;
    std::vector<LaneDescription> lanes;
  };
  /// An aggregator to which this rank speaks for others.
  struct Served {
    int aggregator = 0;                  ///< its index
    std::vector<const Member*> members;  ///< by rank, this one among them
    /// Whether each member has there the same as the member before; set by the caller that
    /// describes them.
    std::vector<bool> repeats;
  };

  struct Options {
    bool reads = false;           ///< true: members with the same bytes share them
    KeptBuffers* kept = nullptr;  ///< what stays from one operation to the next, or null
  };
  NodeDelegates(Comm& comm, MemoryReserve& memory, const Options& options)
      : comm_(comm), kept_(options.kept), memory_(memory), reads_(options.reads) {}

  /// Tells the ranks of this node which aggregators on other nodes this rank meets (`met`, their
  /// indices, each below `aggregators`) and what it has there. Learns the same of the others, and
  /// decides which rank speaks. Collective: over the node; the error is local, and allocate() must
  /// be called nevertheless.
  Status meet(std::span<const int> met, int aggregators, std::span<const Lane> mine);
  /// Allocates the staging buffers, for the most that this rank carries in any round of `domains`
  /// (null: nothing). Collective: over the node; the error is the same on the whole node.
  Status allocate(const FileDomains* domains);

  /// Returns the rank that speaks for this one to an aggregator: itself, unless another one does.
  int speaker(int aggregator) const;
  std::vector<Served>& served() { return served_; }
  const std::vector<Served>& served() const { return served_; }
  /// Returns what this rank carries in a round, by aggregator, where ranks other than itself have
  /// bytes. May throw std::bad_alloc.
  std::vector<Load> loads(const FileDomains& domains, int round) const;
  /// Returns the place of `bytes` in the staging buffer of this rank or of another delegate of the
  /// node.
  /// \pre they lie within the buffer, whoever has told the offset
  std::byte* staging(int rank, int64_t offset, int64_t bytes) const;

 private:
  struct Board;
  Status read_board(const Board& board, std::span<const int> met, int lane_count);
  Result<const Member*> member(const Board& board, size_t node_rank, int lane_count);
  void find_node();
  Result<std::shared_ptr<SharedBuffer>> share(std::shared_ptr<SharedBuffer>* kept, size_t bytes, bool payload);
  int64_t node_maximum(int64_t value);

  Comm& comm_;
  KeptBuffers* kept_;
  MemoryReserve& memory_;
  bool reads_;
  std::vector<int> node_ranks_;  // the ranks of this node
  std::map<int, int> speakers_;  // by aggregator, where it isn't this rank
  std::map<int, Member> members_;
  std::vector<Served> served_;
  bool gathers_ = false;  // a rank of this node speaks for another
  std::shared_ptr<SharedBuffer> staging_;
};

}  // namespace stria::access
