// Requests to several servers at once, each with its data, until all are answered or given up.
//
// Problem: a file's bytes lie on many servers. Asked one after another, they would be as slow as
// one. A server may also die and come back, and even then a request must be done only once.
// Method: one loop over all connections sends and receives what each of them takes (poll, no
// threads). A request that can't be sent, or whose reply is damaged, starts again on a new
// connection of the same session, until nothing has moved for as long as the patience.
// Cost: a few system calls for each request, and memory for one payload per connection.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "storage/striped/server_link.hpp"

namespace stria::storage {

/// Says where the data of a reply go, once the reply's own fields have come. It may be asked again,
/// since a request that is tried again starts from its beginning.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual Result<std::span<const iovec>> places(std::span<const std::byte> reply) = 0;
};

struct Call {
  ServerLink* link = nullptr;
  wire::Kind kind = wire::Kind::kError;
  std::vector<std::byte> body;
  std::span<const iovec> data = {};  ///< sent after the body
  ReplySink* sink = nullptr;         ///< null: no data are expected
  /// How long the server may wait for what the request asks for.
  uint32_t wait_ms = 0;
  std::chrono::milliseconds patience{0};  ///< 0: server_patience()
  /// Called with the body before it is sent, each time that it is.
  std::function<Status(std::vector<std::byte>& body)> before_sending = {};
  /// The call isn't tried again: what it is about ends with the connection.
  bool only_this_connection = false;

  Status outcome = {};
  std::vector<std::byte> reply = {};
};

/// Returns how long a server may be silent before it is given up: STRIA_SERVER_TIMEOUT in seconds,
/// or 30 when it is not set.
std::chrono::milliseconds server_patience();

/// Runs all calls to their end; each then has its outcome. An error that a server has sent
/// keeps its code; when a server doesn't answer, the outcome is kIo and names it. Returns the
/// first failure.
Status run_calls(std::span<Call> calls);

}  // namespace stria::storage
