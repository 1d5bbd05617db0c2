// Describes how a rank asks rank 0 of its communicator, on another node (nodes_message.hpp says
// why).
//
// It asks at all of rank 0's addresses until the first answer comes, and then only at the one that
// answered. A question without an answer is asked again, at growing intervals, because datagrams
// get lost and a link may be down for a while.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "comm/waiting.hpp"
#include "mpiio/nodes/nodes_server.hpp"
#include "stria/status.hpp"

namespace stria::mpiio {

/// One thread at a time.
class NodesClient {
 public:
  NodesClient(const NodesPlace& place, int rank) : place_(place), rank_(rank) {}

  /// Finds out whether rank 0 can be reached. If no address answers within `patience`, the error
  /// lists the addresses.
  Status greet(std::chrono::milliseconds patience);

  /// Asks and waits for the answer. It reports a long wait, and ends the job after the deadline.
  NodesMessage ask(NodesMessage::Kind kind, const std::array<int64_t, NodesMessage::kValues>& values);

  /// Asks without waiting. An earlier question is forgotten.
  void start(NodesMessage::Kind kind, const std::array<int64_t, NodesMessage::kValues>& values);
  /// Returns the answer to the last question, once. Asks again when it is time to.
  std::optional<NodesMessage> poll();
  /// True while a question has no answer.
  bool is_asking() const { return asking_; }

 private:
  using Clock = std::chrono::steady_clock;

  void send();
  std::optional<NodesMessage> receive();
  bool is_answer(const NodesMessage& message) const;
  void keep_only(size_t socket);
  std::optional<NodesMessage> wait(Clock::time_point deadline);

  NodesPlace place_;
  int rank_;
  std::vector<DatagramSocket> sockets_;  ///< to each address; later to the one that answered
  bool has_answered_ = false;
  bool asking_ = false;
  NodesMessage question_;
  Clock::time_point next_send_;
  Clock::duration interval_{};
  LongWait long_wait_;
};

}  // namespace stria::mpiio
