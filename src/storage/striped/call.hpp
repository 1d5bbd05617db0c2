// Requests to several servers at once, each with its data, until all are answered or given up.
//
// Problem: a file's bytes lie on many servers; asked one after another they would be as slow as
// one. A server may die and come back, and a request must then be done once. Method: one loop over
// all connections that sends and receives what each will take (poll, no threads). What can't be
// sent, or comes back damaged, is tried again on a new connection of the same session, from its
// beginning, until nothing has moved for the patience. Cost: a few system calls a request, memory
// of a payload a connection.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/striped/server_link.hpp"

namespace stria::storage {

/// Says where the data of a reply go, once the reply's own fields are here. May be asked again: a
/// request that is tried again starts from its beginning.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual Result<std::span<const iovec>> places(std::span<const std::byte> reply) = 0;
};

struct Call {
  ServerLink* link = nullptr;
  wire::Kind kind = wire::Kind::kError;
  std::vector<std::byte> body;
  std::span<const iovec> data = {};       ///< sent after the body
  ReplySink* sink = nullptr;              ///< null: no data are expected
  uint32_t wait_ms = 0;                   ///< tells the server how long to wait for what the request asks for
  std::chrono::milliseconds patience{0};  ///< 0: server_patience()
  bool only_this_connection = false;      ///< not tried again: what it is about is gone with the connection

  Status outcome = {};
  std::vector<std::byte> reply = {};
};

/// How long a server may be silent before it is given up. STRIA_SERVER_TIMEOUT, in seconds; 30 when
/// it is not set.
std::chrono::milliseconds server_patience();

/// Runs all calls to their end; each has its outcome then. An outcome that is the servers' own word
/// has their code; one of a server that doesn't answer is kIo and names it. Returns the first
/// failure.
Status run_calls(std::span<Call> calls);

}  // namespace stria::storage
