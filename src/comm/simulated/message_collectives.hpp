// Collectives made of point-to-point messages, in trees: O(log ranks) steps, and the message counts of a real implementation.
#pragma once

#include "comm/comm.hpp"

namespace stria {

/// A communicator whose collectives need nothing but send, receive and wait. Tags below zero are its own.
class MessageCollectives : public Comm {
 public:
  /// Dissemination: in step k everybody tells the rank 2^k further.
  void barrier() override;
  /// A binomial tree from the root.
  void broadcast(std::span<std::byte> data, int root) override;
  /// A binomial tree to rank 0, in an order of additions that depends on the number of ranks only, and a broadcast.
  void all_reduce(std::span<int64_t> values, ReduceOp op) override;
  void all_reduce(std::span<double> values, ReduceOp op) override;
  /// Doubling distances: after step k a rank knows the sum over the 2^k ranks before it.
  void exclusive_scan(std::span<int64_t> values) override;
  /// Bruck's algorithm: doubling shares.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  /// Sizes, then pieces, straight to the root.
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override;

 private:
  void send_now(std::span<const std::byte> data, int to);
  void receive_now(std::span<std::byte> data, int from);
  void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from);
  template <typename T>
  void reduce_and_broadcast(std::span<T> values, ReduceOp op);
};

}  // namespace stria
