// The thread that answers other nodes, in the process of a communicator's rank 0
// (nodes_message.hpp says why).
#pragma once

#include <poll.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/held.hpp"
#include "mpiio/nodes/datagrams.hpp"
#include "mpiio/nodes/nodes_ledger.hpp"

namespace stria::mpiio {

/// Says where a channel's ledger is: all that other ranks need. It travels by MPI.
struct NodesPlace {
  static constexpr int kAddresses = 12;

  Token token;
  int32_t address_count = 0;  ///< 0: none
  std::array<SocketAddress, kAddresses> addresses{};
};

class NodesServer {
 public:
  NodesServer() = default;
  NodesServer(const NodesServer&) = delete;
  NodesServer& operator=(const NodesServer&) = delete;
  ~NodesServer();

  /// Returns the server of this process.
  static NodesServer& instance();

  /// Answers for a ledger until forget(). Starts the thread.
  NodesPlace add(std::unique_ptr<NodesLedger> ledger);
  void forget(const Token& token);
  /// Answers rank 0 itself, as other ranks are answered by messages.
  NodesAnswer exchange(const Token& token, const NodesReport& report);

 private:
  /// A question that is answered when there is news.
  struct Waiter {
    SocketAddress from;
    const DatagramSocket* socket;
    NodesMessage question;
  };
  struct Channel {
    std::unique_ptr<NodesLedger> ledger;
    std::map<int, Waiter> waiters;  ///< by rank: the last question of each
  };

  // `held` is a lock of the mutex.
  void start(const Held& held);
  void end();
  void work(std::vector<pollfd> waits);
  void take(const DatagramSocket& socket);
  void handle(const Held& held, Channel& channel, const Waiter& asked);
  void answer_waiters(const Held& held, Channel& channel);
  bool answer_with_news(const Held& held, const Channel& channel, const Waiter& waiter) const;

  std::mutex mutex_;
  std::map<Token, Channel> channels_;
  /// One for each address, so that an answer comes from where the question went.
  std::vector<DatagramSocket> sockets_;
  int wake_ = -1;  ///< an eventfd
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace stria::mpiio
