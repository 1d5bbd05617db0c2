// Reading and writing: data go through one buffer, one payload at a time. Long runs that are read
// go from the system's cache to the connection.
#pragma once

#include <asio/awaitable.hpp>

#include "server/connections/client.hpp"

namespace stria::server {

/// Answers Kind::kWrite and kRead. Waits for the memory that they take.
asio::awaitable<void> move_data(Client& client);

}  // namespace stria::server
