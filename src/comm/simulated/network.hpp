// The messages of a simulation: delayed at random, but in order between two ranks
// with the same tag.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "comm/simulated/scheduler.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria {

/// A send or receive under way, shared by its request and the network.
struct Transfer {
  bool done = false;
  int waiting_rank = -1;  ///< the rank that is blocked until this is done
};

class Network {
 public:
  /// `node_of_rank` must outlive the network.
  Network(Scheduler& scheduler, std::span<const int> node_of_rank)
      : scheduler_(scheduler), node_of_rank_(node_of_rank), traffic_(node_of_rank.size()) {}

  std::shared_ptr<Transfer> send(std::span<const std::byte> data, int from, int to, int tag);
  std::shared_ptr<Transfer> receive(std::span<std::byte> data, int from, int to, int tag);
  /// Takes a message that has arrived into `content`, from the lowest rank that has sent one, and
  /// returns that rank; nothing: there is none.
  std::optional<int> take(int to, int tag, std::vector<std::byte>& content);
  const std::vector<RankTraffic>& traffic() const { return traffic_; }

 private:
  struct Message {
    std::vector<std::byte> copy;          ///< bytes of a buffered message
    std::span<const std::byte> original;  ///< the bytes of one that waits for its receiver
    std::shared_ptr<Transfer> send;       ///< the send of one that waits for its receiver
    std::span<const std::byte> data() const { return send != nullptr ? original : std::span<const std::byte>(copy); }
  };
  struct Receive {
    std::span<std::byte> buffer;
    std::shared_ptr<Transfer> transfer;
  };
  /// The messages from one rank to another with one tag: three queues in order.
  struct Channel {
    std::deque<Message> under_way;
    std::deque<Message> arrived;
    std::deque<Receive> receives;
  };
  Channel& channel(int from, int to, int tag);
  void match(Channel& channel, int from, int to, int tag);
  void complete(Transfer& transfer);

  Scheduler& scheduler_;
  std::span<const int> node_of_rank_;
  std::unordered_map<uint64_t, std::unique_ptr<Channel>> channels_;
  std::vector<RankTraffic> traffic_;
};

}  // namespace stria
