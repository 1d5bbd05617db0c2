// The messages of one connection, those that come and those that go.
//
// Invariants: there is one request at a time, and every answer is to the request whose message came
// last. A message's memory is asked for before it is received; without room it stays with the
// sender. A client that hasn't greeted may send little, and is given nothing.
// Cost: 16 KiB and a small message for each connection.
#pragma once

#include <asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/connections/network/stream.hpp"
#include "server/connections/resources/budget.hpp"
#include "server/connections/shared_state.hpp"
#include "server/manager/manager.hpp"
#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// A client that waits hears so often that it isn't forgotten.
inline constexpr std::chrono::milliseconds kWorkingEvery{5000};

/// Holds data with their hash.
struct Payload {
  std::span<const std::byte> data;
  uint64_t sum = 0;
};

/// Belongs to the connection's thread, where nothing else is said. Every call that waits throws
/// asio::system_error when the client has gone or is too slow, and Error when what comes is none of
/// the protocol: either ends the connection.
class Messages {
 public:
  /// `shared` must outlive this.
  Messages(SharedState& shared, Stream::Socket socket);

  // What came.

  /// Receives a message but for its payload. A time of 0 means no limit until its head has come.
  asio::awaitable<void> receive(std::chrono::milliseconds time);
  /// Receives the next request, however long it takes to come.
  asio::awaitable<void> receive_request();
  /// Receives the payload that the head has named. `to` has room for it.
  asio::awaitable<void> receive_payload(std::byte* to);
  const wire::Header& header() const { return header_; }
  /// Returns the version of the protocol that the client speaks: that of its greeting.
  uint16_t version() const { return version_.value_or(shared_.newest_version); }
  const std::vector<std::byte>& body() const { return body_; }
  /// Returns the same, which is then empty here.
  std::vector<std::byte> take_body() { return std::exchange(body_, {}); }
  /// Returns the request that is being answered; header() may be of its data.
  wire::Kind request() const { return request_; }
  /// The request is answered: gives back what its message took.
  void finish_request();

  // What goes.

  asio::awaitable<void> reply(wire::Kind kind, std::span<const std::byte> body);
  /// Does the same with data. The header says of which kind it is, and whether more follow.
  asio::awaitable<void> send(wire::Header header, std::span<const std::byte> body, Payload payload);
  asio::awaitable<void> refuse(const Status& status);
  asio::awaitable<void> give(const Answer& answer);
  /// Refuses a client that isn't let in, and ends the connection: throws kPermissionDenied.
  asio::awaitable<void> turn_away(const Status& why);
  asio::awaitable<void> say_working();

  /// Waits for a share of memory, and tells the client now and then that it isn't forgotten.
  asio::awaitable<Budget::Share> wait_for(Budget& budget, int64_t amount);
  /// The client may send as much as others from now on.
  void let_in() { stranger_ = false; }
  /// Returns the client's address, for people.
  const std::string& client() const { return client_; }
  Stream& stream() { return stream_; }

 private:
  SharedState& shared_;
  const std::string client_;
  Stream stream_;
  bool stranger_ = true;
  Budget::Share share_;  // for body_
  std::optional<uint16_t> version_;
  wire::Header header_;
  wire::Kind request_ = wire::Kind::kHello;
  std::vector<std::byte> body_;
};

}  // namespace stria::server
