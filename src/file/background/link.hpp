// A connection between processes of two nodes: short messages, and no call that waits.
//
// Method: a TCP socket that doesn't block; each message has its length in front, and fits into the
// system's buffer. A process that ends closes the connection. A node that is lost answers nothing
// any more; the system notices that within half a minute.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stria/status.hpp"

namespace stria::file {

/// A socket, closed by the destructor.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

class Link {
 public:
  static constexpr size_t kMostBytes = 8192;

  Link() = default;
  /// Takes a socket that is connected, or will be.
  explicit Link(Socket socket);

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.get(); }
  /// Sends a message, without a need for memory. kIo where the other side is gone.
  /// \pre message.size() <= kMostBytes
  Status send(std::span<const std::byte> message);
  /// Returns the next message, nothing where none has come yet, kIo where the other side is gone.
  /// Throws std::bad_alloc; the message then stays for the next call.
  Result<std::optional<std::vector<std::byte>>> receive();

 private:
  Result<bool> fill();

  Socket socket_;
  std::vector<std::byte> received_;
};

}  // namespace stria::file
