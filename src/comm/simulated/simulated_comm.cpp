#include "comm/simulated/simulated_comm.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "comm/private_memory.hpp"
#include "comm/simulated/announced_messages.hpp"
#include "comm/simulated/message_collectives.hpp"
#include "comm/simulated/network.hpp"
#include "comm/simulated/scheduler.hpp"

namespace stria {

namespace {

constexpr int kMostRanks = 65535;

class NodeParts : public SharedBuffer {
 public:
  explicit NodeParts(int node_size) : parts_(static_cast<size_t>(node_size)) {}
  std::span<std::byte> part(int node_rank) const override { return parts_[static_cast<size_t>(node_rank)].bytes(); }
  void set_part(int node_rank, PrivateMemory memory) { parts_[static_cast<size_t>(node_rank)] = std::move(memory); }

 private:
  std::vector<PrivateMemory> parts_;
};

/// One allocation by the ranks of a node, until all of them have called.
struct NodeAllocation {
  std::shared_ptr<NodeParts> parts;
  int present = 0;
  std::vector<int> waiting;
  Status failure;
};

/// Holds what the ranks share.
struct World {
  World(const SimulationOptions& options, std::vector<int> nodes)
      : scheduler(options.seed, options.stall_ms), node_of_rank(std::move(nodes)), network(scheduler, node_of_rank) {
    for (const int node : node_of_rank) {
      node_sizes.resize(std::max(node_sizes.size(), static_cast<size_t>(node) + 1), 0);
      node_rank_of_rank.push_back(node_sizes[static_cast<size_t>(node)]++);
    }
  }
  Scheduler scheduler;
  std::vector<int> node_of_rank;
  Network network;
  std::vector<int> node_rank_of_rank;
  std::vector<int> node_sizes;  ///< by node
  AnnouncedMessages announced;
  /// Keyed by the node, and by the number of allocations that the rank has made before.
  std::map<std::pair<int, int64_t>, std::shared_ptr<NodeAllocation>> allocations;
  std::vector<std::unique_ptr<CommRequest>> parked;
};

class SimulatedRequest : public CommRequest {
 public:
  SimulatedRequest(World& world, std::shared_ptr<Transfer> transfer, const WaitState& state)
      : world_(world), transfer_(std::move(transfer)), state_(state) {}
  bool test() override {
    if (!transfer_->done && !world_.scheduler.cancelled()) {
      world_.scheduler.poll();
    }
    return transfer_->done;
  }
  void wait() {
    while (!transfer_->done) {
      transfer_->waiting_rank = world_.scheduler.current();
      world_.scheduler.block(state_);
      if (world_.scheduler.cancelled()) {
        return;
      }
    }
  }

 private:
  World& world_;
  std::shared_ptr<Transfer> transfer_;
  WaitState state_;
};

class SimulatedComm : public MessageCollectives {
 public:
  SimulatedComm(World& world, int rank) : world_(world), rank_(rank), node_(world.node_of_rank[static_cast<size_t>(rank)]) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_.node_of_rank.size()); }
  std::span<const int> node_of_rank() const override { return world_.node_of_rank; }
  int node_rank() const override { return world_.node_rank_of_rank[static_cast<size_t>(rank_)]; }
  int node_size() const override { return world_.node_sizes[static_cast<size_t>(node_)]; }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override;

  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    auto transfer = world_.network.send(data, rank_, to, tag);
    world_.scheduler.yield();
    return request(std::move(transfer), {"sends", "to", to, tag, static_cast<int64_t>(data.size())});
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    auto transfer = world_.network.receive(data, from, rank_, tag);
    return request(std::move(transfer), {"receives", "from", from, tag, static_cast<int64_t>(data.size())});
  }
  std::optional<int> take_message(int tag, std::vector<std::byte>& content) override {
    return world_.network.take(rank_, tag, content);
  }
  void wait(CommRequest& request) override {
    if (attendant() == nullptr) {
      static_cast<SimulatedRequest&>(request).wait();
      return;
    }
    do {
      attend();
    } while (!request.test() && !world_.scheduler.cancelled());
  }
  void pause(int) override {
    attend();
    world_.scheduler.poll();
  }
  /// Other ranks may still send after this rank has ended.
  void park(std::unique_ptr<CommRequest>&& request) override { world_.parked.push_back(std::move(request)); }
  /// Works as nonblocking consensus does, by messages and a barrier.
  Messages sparse_exchange(const Messages& outgoing) override {
    return world_.announced.exchange(*this, exchanges_made_++, outgoing);
  }

 private:
  std::unique_ptr<CommRequest> request(std::shared_ptr<Transfer> transfer, const WaitState& state) {
    return std::make_unique<SimulatedRequest>(world_, std::move(transfer), state);
  }

  World& world_;
  int rank_;
  int node_;
  int64_t allocations_made_ = 0;
  int64_t exchanges_made_ = 0;
};

Result<std::shared_ptr<SharedBuffer>> SimulatedComm::allocate_shared(SharedBytes wanted) {
  const std::pair<int, int64_t> key{node_, allocations_made_++};
  std::shared_ptr<NodeAllocation>& entry = world_.allocations[key];
  if (entry == nullptr) {
    entry = std::make_shared<NodeAllocation>();
    entry->parts = std::make_shared<NodeParts>(node_size());
  }
  const std::shared_ptr<NodeAllocation> allocation = entry;
  Result<PrivateMemory> mine = PrivateMemory::allocate(wanted.bytes);
  if (mine.ok()) {
    allocation->parts->set_part(node_rank(), std::move(*mine));
  } else {
    allocation->failure = mine.status();
  }
  allocation->waiting.push_back(rank_);
  if (++allocation->present == node_size()) {
    world_.allocations.erase(key);
    for (const int rank : allocation->waiting) {
      world_.scheduler.wake(rank);
    }
  }
  while (allocation->present < node_size() && !world_.scheduler.cancelled()) {
    if (attendant() == nullptr) {
      world_.scheduler.block({.what = "allocates shared memory with its node"});
    } else {
      attend();
      world_.scheduler.poll();
    }
  }
  STRIA_RETURN_IF_ERROR(allocation->failure);
  return std::shared_ptr<SharedBuffer>(allocation->parts);
}

std::vector<int> lay_out_nodes(const SimulationOptions& options) {
  const int nodes = (options.ranks + options.ranks_per_node - 1) / options.ranks_per_node;
  std::vector<int> node_of_rank;
  for (int rank = 0; rank < options.ranks; ++rank) {
    node_of_rank.push_back(options.scatter_nodes ? rank % nodes : rank / options.ranks_per_node);
  }
  return node_of_rank;
}

}  // namespace

RankTraffic SimulationReport::total() const {
  RankTraffic sum;
  for (const RankTraffic& rank : traffic) {
    sum.messages_sent += rank.messages_sent;
    sum.bytes_sent += rank.bytes_sent;
    sum.messages_received += rank.messages_received;
    sum.bytes_received += rank.bytes_received;
    sum.messages_sent_away += rank.messages_sent_away;
    sum.bytes_sent_away += rank.bytes_sent_away;
  }
  return sum;
}

Result<SimulationReport> run_simulated(const SimulationOptions& options, const std::function<void(Comm&)>& body) {
  if (options.ranks < 1 || options.ranks > kMostRanks || options.ranks_per_node < 1 || options.stack_bytes < 16384) {
    return Status(ErrorCode::kInvalidArgument, "a simulation wants 1 to " + std::to_string(kMostRanks) +
                                                   " ranks, at least one per node, and stacks of 16 KiB or more");
  }
  STRIA_ASSIGN_OR_RETURN(const FiberStacks stacks,
                         FiberStacks::allocate(options.ranks, options.stack_bytes, options.guard_pages));
  World world(options, lay_out_nodes(options));
  for (int rank = 0; rank < options.ranks; ++rank) {
    world.scheduler.add_rank(stacks.stack(rank), [&world, &body, rank] {
      SimulatedComm comm(world, rank);
      body(comm);
    });
  }
  const Status outcome = world.scheduler.run();
  if (world.scheduler.exception() != nullptr) {
    std::rethrow_exception(world.scheduler.exception());
  }
  STRIA_RETURN_IF_ERROR(outcome);
  return SimulationReport{world.network.traffic(), world.scheduler.switches()};
}

}  // namespace stria
