#include "access/together/exchange/aggregator_buffers.hpp"

#include <algorithm>

#include "base/buffer.hpp"
#include "base/check.hpp"

namespace stria::access {

int64_t AggregatorBuffers::asked_bytes() const {
  return std::max<int64_t>(plan_.buffer_bytes / kTwins, 1);
}

// Returns the size of a kept buffer for one round: enough for any request of these hulls. It is
// computed without the domains, so that ranks agree on it even where one of them is out of memory.
int64_t AggregatorBuffers::kept_bytes() const {
  int64_t longest = 0;
  for (const Lane& lane : lanes_) {
    longest = std::max(longest, lane.hull.size());
  }
  int64_t most = std::max(asked_bytes(), plan_.unit_bytes + 4 * Buffer::kAlignmentBytes);
  int64_t a_lane = longest + 2 * plan_.unit_bytes + 4 * Buffer::kAlignmentBytes;
  auto lanes = static_cast<int64_t>(lanes_.size());
  return a_lane < most / std::max<int64_t>(lanes, 1) ? lanes * a_lane : most;
}

Status AggregatorBuffers::allocate(MemoryReserve& memory, bool serves, int64_t domain_bytes) {
  if (kept_ != nullptr && kept_->memory != nullptr && kept_->bytes >= kept_bytes() && kept_->aggregators == plan_.aggregators) {
    shared_ = kept_->memory;
    return Status();
  }
  const int64_t twin_bytes = align_up(kept_ != nullptr || !serves ? kept_bytes() : domain_bytes, Buffer::kAlignmentBytes);
  auto shared = context_.comm.allocate_shared({serves ? twin_bytes * kTwins : 0, true});
  STRIA_RETURN_IF_ERROR(shared.status());
  shared_ = std::move(*shared);
  if (kept_ != nullptr) {
    memory.attempt([&] {
      kept_->memory.reset();
      kept_->aggregators = plan_.aggregators;
      kept_->bytes = twin_bytes;
      kept_->memory = shared_;
    });
  }
  return Status();
}

void AggregatorBuffers::forget() {
  if (kept_ != nullptr) {
    kept_->memory.reset();
  }
}

void AggregatorBuffers::number_node_ranks() {
  const auto nodes = context_.comm.node_of_rank();
  const int node = nodes[static_cast<size_t>(context_.comm.rank())];
  for (const int aggregator : plan_.aggregators) {
    if (nodes[static_cast<size_t>(aggregator)] == node) {
      node_rank_.emplace(aggregator, static_cast<int>(std::count(nodes.begin(), nodes.begin() + aggregator, node)));
    }
  }
}

int64_t AggregatorBuffers::bytes_of(int aggregator_rank) const {
  const auto found = node_rank_.find(aggregator_rank);
  STRIA_CHECK(found != node_rank_.end() && shared_ != nullptr, aggregator_rank, context_.comm.rank());
  return static_cast<int64_t>(shared_->part(found->second).size()) / kTwins;
}

std::byte* AggregatorBuffers::of(int aggregator_rank, int round) const {
  const auto found = node_rank_.find(aggregator_rank);
  STRIA_CHECK(found != node_rank_.end() && shared_ != nullptr && round >= 0, aggregator_rank, context_.comm.rank(), round);
  std::span<std::byte> part = shared_->part(found->second);
  return part.data() + static_cast<int64_t>(part.size()) / kTwins * (round % kTwins);
}

}  // namespace stria::access
