// Requests about the manager itself: who it is, what its standby doesn't have yet, and that the
// standby takes over.
#pragma once

#include <asio/awaitable.hpp>

#include "server/connections/client.hpp"

namespace stria::server {

/// Has the manager answer the client's request, on its thread or in its place; an error where
/// another has taken over. This server has a manager.
asio::awaitable<Answer> done_by_manager(Client& client);

/// Waits until the client may have the manager's answer (change_stream.hpp). An error where that
/// doesn't come to pass.
asio::awaitable<Status> may_be_told(Client& client, const Answer& answer);

/// Answers Kind::kRole.
asio::awaitable<Answer> tell_role(Client& client);

/// Answers Kind::kFollow: at once when there is something, or after a second.
asio::awaitable<Answer> follow(Client& client);

/// Answers Kind::kPromote.
asio::awaitable<Answer> promote(Client& client);

}  // namespace stria::server
