// The aggregators' buffers, in memory that the ranks of their nodes share: two of each, one of
// which is packed while the other is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "access/context/context.hpp"
#include "access/failure/memory_reserve.hpp"
#include "access/plan/plan.hpp"
#include "access/together/exchange/kept_buffers.hpp"

namespace stria::access {

class AggregatorBuffers {
 public:
  static constexpr int kTwins = 2;

  /// `kept`: what stays from one operation to the next, or null. What is passed must outlive this.
  AggregatorBuffers(const Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, KeptBuffers* kept)
      : context_(context), plan_(plan), lanes_(lanes), kept_(kept) {}

  /// Returns the bytes of one buffer that the plan asks for.
  int64_t asked_bytes() const;
  /// Finds the place of each aggregator of this node among its ranks. May throw std::bad_alloc.
  void number_node_ranks();
  /// Takes the buffers of the previous operation if they are large enough, else new ones:
  /// `domain_bytes` each on the ranks that `serve`. Collective: yes; the error is local.
  Status allocate(MemoryReserve& memory, bool serves, int64_t domain_bytes);
  /// Keeps nothing for the next operation.
  void forget();

  /// The bytes of one buffer of an aggregator. \pre it is of this node
  int64_t bytes_of(int aggregator_rank) const;
  /// The buffer of an aggregator for a round. \pre it is of this node
  std::byte* of(int aggregator_rank, int round) const;

 private:
  int64_t kept_bytes() const;

  const Context& context_;
  const ThroughAggregators& plan_;
  std::span<const Lane> lanes_;
  KeptBuffers* kept_;
  std::shared_ptr<SharedBuffer> shared_;
  std::map<int, int> node_rank_;  // by rank, of this node's aggregators
};

}  // namespace stria::access
