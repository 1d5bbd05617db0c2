// The client of a connection, as requests see it: what it says, who it is, and what was found out
// about it. Requests are functions over it (requests.hpp).
#pragma once

#include <asio/post.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "server/connections/messages.hpp"
#include "server/connections/network/caller_of.hpp"
#include "server/connections/resources/background.hpp"
#include "server/connections/shared_state.hpp"
#include "server/connections/tickets.hpp"

namespace stria::server {

/// Belongs to the connection's thread, but for stop() and `handles`.
struct Client : public std::enable_shared_from_this<Client> {
  Client(std::shared_ptr<SharedState> server, Stream::Socket socket, uint64_t its_number)
      : shared(std::move(server)),
        number(its_number),
        peer(peer_of(socket.native_handle())),
        messages(*shared, std::move(socket)) {}

  /// Ends the connection soon. May be called from any thread.
  void stop() {
    asio::post(messages.stream().executor(), [self = shared_from_this()] { self->messages.stream().close(); });
  }

  const std::shared_ptr<SharedState> shared;
  const uint64_t number;                 ///< the number of the connection
  const std::optional<wire::User> peer;  ///< the peer as the kernel says
  Messages messages;
  wire::Identity session{};
  Caller caller;
  Tickets::Known known_tickets;
  std::atomic<int64_t> handles = 0;  ///< open files, as the manager said last
};

/// Returns what work() answers, done by one of the workers. Meanwhile the client is told that it
/// isn't forgotten.
template <typename Pool>
asio::awaitable<Answer> done_by(Pool& workers, std::function<Answer()> work, Client& client, Ending ending = Ending::kAnyTime) {
  return in_background<Answer>(
      workers, std::move(work), kWorkingEvery, [&client] { return client.messages.say_working(); }, ending);
}

}  // namespace stria::server
