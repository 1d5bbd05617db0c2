// The bytes of a connection to a server in both directions, plain or encrypted, through a socket
// that never blocks.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stria/status.hpp"
#include "wire/trust/encryption.hpp"

namespace stria::storage {

/// An error of any call means that the connection can't be used any more.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { close(); }

  /// Takes the socket, which is a client's, and closes the one before.
  void open(int socket);
  void close();
  bool is_open() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  /// True when the other end has closed the connection, or has said something unasked. Costs a
  /// system call.
  bool is_stale() const;

  /// All bytes are encrypted from now on, those that come and those that go.
  void encrypt(const wire::RecordKeys& keys);

  /// Takes bytes to send from the pieces, in order; returns how many. 0: there is no room now.
  Result<size_t> send(std::span<const iovec> pieces);
  /// True when the system has all bytes that were taken.
  Result<bool> flush();
  /// Puts bytes that have come into the pieces, in order; returns how many. 0: none are here.
  Result<size_t> receive(std::span<const iovec> pieces);

 private:
  struct Encrypted {
    explicit Encrypted(const wire::RecordKeys& keys) : sealer(keys.to_server), opener(keys.to_client) {}
    wire::RecordSealer sealer;
    wire::RecordOpener opener;
    std::vector<std::byte> record;  // the last that was sealed
    size_t sent = 0;                // bytes of it that the system has
  };

  int socket_ = -1;
  std::unique_ptr<Encrypted> encrypted_;
};

}  // namespace stria::storage
