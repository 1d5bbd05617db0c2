// Messages between ranks that take time: links of nodes serve them one after another.
//
// Method: a short message leaves when the sender's processor is free; a long one when both sides
// are there. It then passes the link out of its node, the latency, and the link into the other
// node. Within a node it costs a copy. What a message only carries from memory to memory (payload)
// isn't copied where the run moves descriptions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "clock/clock.hpp"
#include "clock/queue.hpp"
#include "machine/machine.hpp"

namespace stria::simulate {

/// A send or receive under way, shared by its request and the network.
struct Transfer {
  bool done = false;
  int owner = -1;         ///< the rank whose send or receive it is
  int waiting_rank = -1;  ///< the rank that blocks until this is done
  double copy_s = 0;      ///< the receiver's time to take the bytes to where they belong
};

struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
  int64_t bytes_away = 0;  ///< to other nodes
};

class Messages {
 public:
  struct Options {
    bool carries_payload = true;
  };
  /// What is passed must outlive this.
  Messages(Clock& clock, const Nodes& nodes, std::span<const int> node_of_rank, const Options& options);

  /// The running rank calls this, and keeps the bytes of a send until it is done.
  std::shared_ptr<Transfer> send(std::span<const std::byte> data, int to, int tag);
  std::shared_ptr<Transfer> receive(std::span<std::byte> data, int from, int tag);

  /// The running rank does nothing until `moment`, or until one of its messages is done.
  void pause_until(double moment);

  const Traffic& traffic() const { return traffic_; }
  Queue& link_out(int node) { return links_out_[static_cast<size_t>(node)]; }
  Queue& link_in(int node) { return links_in_[static_cast<size_t>(node)]; }

 private:
  struct Way {
    int from;
    int to;
    int tag;
    bool operator==(const Way&) const = default;
  };
  struct HashOfWay {
    size_t operator()(const Way& way) const;
  };
  struct Sent {
    std::span<const std::byte> data;
    std::vector<std::byte> copy;
    std::shared_ptr<Transfer> transfer;
    double moment;  ///< when the sender was ready
    bool is_eager;
    bool has_arrived;  ///< whether an eager one has arrived
  };
  struct Awaited {
    std::span<std::byte> buffer;
    std::shared_ptr<Transfer> transfer;
    double moment;
  };
  /// Messages in their order, and receives in theirs; one of the two is empty. There may be
  /// millions of channels with one message each, where a deque would take half a kilobyte.
  struct Channel {
    std::vector<std::shared_ptr<Sent>> sent;
    std::vector<Awaited> awaited;
  };

  bool is_payload(int tag) const;
  /// Tells whether bytes of a message go from memory to memory.
  bool carries(int tag) const;
  void match(const Way& way);
  void deliver(const Way& way, const std::shared_ptr<Sent>& sent, const Awaited& awaited);
  /// Moves bytes from `moment` on; calls `arrived` when they are there, `left` when they have left.
  void travel(const Way& way, int64_t bytes, double moment, std::function<void()> arrived);
  void complete(Transfer& transfer);

  Clock& clock_;
  const Nodes& nodes_;
  std::span<const int> node_of_rank_;
  Options options_;
  std::unordered_map<Way, Channel, HashOfWay> channels_;
  std::vector<Queue> links_out_;
  std::vector<Queue> links_in_;
  std::vector<char> pausing_;  ///< by rank: whether it is in pause_until()
  Traffic traffic_;
};

}  // namespace stria::simulate
