// One connection to one server. It is made within a deadline, begins with a greeting, and is made
// again when it is lost.
//
// Each link is a session. Its random identity stays the same over reconnections and its request
// numbers count on, so that a server recognises a request that it has answered already. One thread
// at a time uses a link.
//
// A link to a store's manager may have several addresses, of which one is the manager's. When it
// can't be reached, or is the manager no more, the next is tried; the session stays the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/striped/channel.hpp"
#include "storage/striped/greeting.hpp"
#include "stria/status.hpp"
#include "wire/address.hpp"
#include "wire/frame.hpp"
#include "wire/trust/key.hpp"

namespace stria::storage {

using Clock = std::chrono::steady_clock;

class ServerLink {
 public:
  ServerLink(wire::Address address, std::shared_ptr<const wire::Key> key, Encryption encryption = Encryption::kAsServerWants);
  /// \pre !addresses.empty()
  ServerLink(std::vector<wire::Address> addresses, std::shared_ptr<const wire::Key> key,
             Encryption encryption = Encryption::kAsServerWants);
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;

  /// Connects and greets, in one attempt; twice where the server speaks an earlier version. Errors
  /// that another attempt may cure are kIo.
  Status connect(Clock::time_point deadline);
  void disconnect() { channel_.close(); }
  bool connected() const { return channel_.is_open(); }
  bool is_stale() const { return channel_.is_stale(); }
  int socket() const { return channel_.socket(); }
  Channel& channel() { return channel_; }
  /// Returns the address that is used now.
  std::string server() const { return addresses_[current_].text(); }
  bool has_others() const { return addresses_.size() > 1; }
  /// Returns another link to that address, of the same session: the server ends what that had
  /// before.
  std::unique_ptr<ServerLink> same_session() const;
  const wire::Identity& session() const { return session_; }
  /// The next connection is made to the next address.
  void try_next();
  /// Returns the identity of the server that was greeted last.
  const wire::Identity& server_identity() const { return server_identity_; }
  /// Counts the connections made; what an earlier one held is lost.
  int64_t generation() const { return generation_; }
  uint64_t next_request() { return ++request_; }
  /// Returns the version of the protocol in which the server was greeted last.
  uint16_t version() const { return version_; }
  /// kUnsupported, which names the server, when it is too old for such a request.
  Status may_ask(wire::Kind kind) const;

  /// Sends a small request and returns its reply, for use within connect(). The server may say
  /// meanwhile that it works on it.
  Result<std::vector<std::byte>> ask(wire::Kind kind, std::span<const std::byte> body, Clock::time_point deadline);

  /// The manager gave the address, so it is right: a server that isn't there is restarting.
  bool surely_there = false;
  /// This is called by connect() on every new connection; an error fails it.
  std::function<Status(ServerLink&, Clock::time_point)> after_greeting;

 private:
  Status reach(Clock::time_point deadline);
  Status greet(Clock::time_point deadline);
  Status reach_and_greet(Clock::time_point deadline);
  Status send_all(std::span<const std::byte> bytes, Clock::time_point deadline);
  Status receive_all(std::span<std::byte> bytes, Clock::time_point deadline);
  Status wait_for(short events, Clock::time_point deadline) const;

  std::vector<wire::Address> addresses_;
  size_t current_ = 0;
  std::shared_ptr<const wire::Key> key_;
  Encryption encryption_;
  wire::Identity session_{};
  wire::Identity server_identity_{};
  uint64_t request_ = 0;
  uint16_t version_ = wire::kVersion;
  uint16_t answered_in_ = wire::kVersion;  // the version of the last answer to ask()
  Channel channel_;
  int64_t generation_ = 0;
};

/// Returns the error that a frame of that version reports; kFormat when even that can't be read.
Status failure_of(std::span<const std::byte> body, uint16_t version);

}  // namespace stria::storage
