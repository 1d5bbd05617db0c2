// One connection to one server: reached within a deadline, greeted, made again when it is lost.
//
// Each link is a session of its own: its random identity and its counting request numbers stay the
// same over reconnections, so that a server knows a request that it has answered already. Used by
// one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/address.hpp"
#include "wire/frame.hpp"
#include "wire/key.hpp"

namespace stria::storage {

using Clock = std::chrono::steady_clock;

class ServerLink {
 public:
  ServerLink(wire::Address address, std::shared_ptr<const wire::Key> key);
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;
  ~ServerLink() { disconnect(); }

  /// Connects and greets. One attempt; the errors that another may cure are kIo.
  Status connect(Clock::time_point deadline);
  void disconnect();
  bool connected() const { return socket_ >= 0; }
  /// True when the other end has gone. Costs a system call.
  bool is_stale() const;
  int socket() const { return socket_; }
  std::string server() const { return address_.text(); }
  /// Of the server that was greeted last.
  const wire::Identity& server_identity() const { return server_identity_; }
  /// Counts connections made: what was held by an earlier one is gone.
  int64_t generation() const { return generation_; }
  uint64_t next_request() { return ++request_; }

  /// A small request and its reply, while connect() still greets.
  Result<std::vector<std::byte>> ask(wire::Kind kind, std::span<const std::byte> body, Clock::time_point deadline);

  /// The address is right, since the manager told it: a server that isn't there is restarting.
  bool surely_there = false;
  /// Called by connect() on every new connection; an error fails it.
  std::function<Status(ServerLink&, Clock::time_point)> after_greeting;

 private:
  Status reach(Clock::time_point deadline);
  Status greet(Clock::time_point deadline);
  Status send_all(std::span<const std::byte> bytes, Clock::time_point deadline) const;
  Status receive_all(std::span<std::byte> bytes, Clock::time_point deadline) const;
  Status wait_for(short events, Clock::time_point deadline) const;

  wire::Address address_;
  std::shared_ptr<const wire::Key> key_;
  wire::Identity session_{};
  wire::Identity server_identity_{};
  uint64_t request_ = 0;
  int socket_ = -1;
  int64_t generation_ = 0;
};

/// What a frame that is an error says; kFormat when even that can't be read.
Status failure_of(std::span<const std::byte> body);

}  // namespace stria::storage
