// Collectives made of point-to-point messages in trees: O(log ranks) steps, and as many messages as
// in a real implementation.
#pragma once

#include "comm/comm.hpp"

namespace stria {

/// A communicator whose collectives need only send, receive and wait. They use tags below zero.
class MessageCollectives : public Comm {
 public:
  /// Dissemination: in step k each rank sends to the one that is 2^k further.
  void barrier() override;
  /// Sends along a binomial tree from the root.
  void broadcast(std::span<std::byte> data, int root) override;
  /// Sends along a binomial tree to rank 0, and then broadcasts. The order of additions depends
  /// only on the number of ranks.
  void all_reduce(std::span<int64_t> values, ReduceOp op) override;
  /// Distances double: after step k a rank knows the sum over the 2^k ranks before it.
  void exclusive_scan(std::span<int64_t> values) override;
  /// Bruck's algorithm: the parts sent double in each step.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  /// Each rank sends its size, then its piece, to the root.
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override;

 private:
  void send_now(std::span<const std::byte> data, int to);
  void receive_now(std::span<std::byte> data, int from);
  void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from);
};

}  // namespace stria
