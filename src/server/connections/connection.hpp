// A client's connection as the server sees it: greeting, then one request after another.
//
// Invariants: two connections never work on one session at the same time. A new connection waits
// until the last request of the old one is over, so that a repeated request never overtakes its
// first copy. A connection holds one message and, for data, one payload (messages.hpp). No request
// keeps a thread for long: one with many pieces lets others go on in between.
// Cost per connection: a coroutine of some hundred bytes, 16 KiB and a small message; while data
// move, a buffer for one payload.
#pragma once

#include <asio/awaitable.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "server/connections/client.hpp"
#include "server/connections/network/stream.hpp"
#include "server/connections/shared_state.hpp"

namespace stria::server {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<SharedState> shared, Stream::Socket socket, uint64_t number);

  /// Serves until the client has gone. Never throws.
  asio::awaitable<void> run();
  /// Ends the connection soon. May be called from any thread.
  void stop() { client_->stop(); }
  bool finished() const { return finished_; }
  asio::any_io_executor executor() { return client_->messages.stream().executor(); }
  /// Closes the connection when the client keeps it waiting for too long. May be called
  /// from any thread.
  void check_time();
  /// Returns how long the connection has done nothing for its client and held nothing for it; 0
  /// when it can't be spared. May be called from any thread.
  std::chrono::nanoseconds spare_for() const;
  bool greeted() const { return greeted_; }
  /// Ends the connection in favour of another. Its client connects again when it needs to. May be
  /// called from any thread.
  void make_room();

 private:
  bool is_needed() const;
  asio::awaitable<void> serve();
  asio::awaitable<void> greet();
  asio::awaitable<void> take_over();
  asio::awaitable<void> count_user();
  void leave();

  const std::shared_ptr<SharedState> shared_;
  const std::shared_ptr<Client> client_;
  bool challenged_ = false;  // it has greeted, and is to prove who it is
  bool counted_ = false;     // among its user's
  std::atomic<bool> greeted_ = false;
  std::atomic<bool> ending_ = false;    // it makes room
  std::atomic<int64_t> idle_since_ns_;  // 0: it has a request
  std::atomic<bool> finished_ = false;
};

}  // namespace stria::server
