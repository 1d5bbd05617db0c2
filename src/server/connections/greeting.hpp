// The greeting of a connection: who the client is, and what both sides need to encrypt
// (docs/formats/wire.md). Its steps come in this order: hear(), challenge(), welcome().
#pragma once

#include <asio/awaitable.hpp>
#include <optional>

#include "server/connections/client.hpp"
#include "wire/messages.hpp"
#include "wire/trust/key.hpp"

namespace stria::server {

/// Each step that waits throws what Messages throws, and ends the connection of a client that isn't
/// let in.
class Greeting {
 public:
  /// `client` must outlive this.
  explicit Greeting(Client& client) : client_(client) {}

  /// The client says who it claims to be.
  asio::awaitable<void> hear();
  /// Tells whether it is to prove that.
  bool wants_proof() const { return challenge_.wants != wire::ProofKind::kNone; }
  /// Lets it prove what it has to. Then client.session and client.caller are known.
  asio::awaitable<void> challenge();
  /// Tells the client that it is let in. What follows is encrypted where the server encrypts.
  asio::awaitable<void> welcome();

 private:
  asio::awaitable<void> seal();
  asio::awaitable<Result<Caller>> check_proof();

  Client& client_;
  wire::Hello hello_;
  wire::Challenge challenge_;
  std::optional<wire::Key> key_;  // by which both sides prove themselves
  std::optional<wire::KeyExchange> exchange_;
};

}  // namespace stria::server
