// One request of a client, from its message to its answer.
#pragma once

#include <asio/awaitable.hpp>

#include "server/connections/client.hpp"

namespace stria::server {

/// Answers the request whose message has come, with an error where it fails. Throws what Messages
/// throws, and what ends the connection: data where none belong.
asio::awaitable<void> answer_request(Client& client);

}  // namespace stria::server
