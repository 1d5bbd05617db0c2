// The page that a Prometheus server fetches: GET /metrics over HTTP, and nothing else. Anyone who
// reaches the address may read it; it names no file and no client. The number of readers at a time
// is limited, and each has some seconds at most.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <memory>

#include "server/connections/shared_state.hpp"

namespace stria::server {

/// Answers the clients of the listening socket until it is closed. Never throws. The descriptor
/// must live as long.
asio::awaitable<void> serve_metrics(std::shared_ptr<SharedState> shared, asio::posix::stream_descriptor& door);

}  // namespace stria::server
