// Sockets for datagrams between nodes, and the addresses at which a machine can be reached.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpiio/nodes/nodes_message.hpp"

namespace stria::mpiio {

/// An address of the Internet with its port, IPv4 or IPv6.
struct SocketAddress {
  std::array<std::byte, 28> bytes{};
  uint32_t length = 0;

  static SocketAddress of(const sockaddr* address, socklen_t length);
  /// Returns the form in which people write it.
  std::string text() const;
};

/// Closes its socket. Movable only.
class DatagramSocket {
 public:
  DatagramSocket() = default;
  explicit DatagramSocket(int descriptor) : descriptor_(descriptor) {}
  DatagramSocket(DatagramSocket&& other) noexcept;
  DatagramSocket& operator=(DatagramSocket&& other) noexcept;
  ~DatagramSocket();

  /// Returns a socket that receives at `address`, at a port of the system's choice; none where that
  /// fails.
  static std::optional<DatagramSocket> bound_to(const SocketAddress& address);
  /// Returns a socket that sends to `address` only.
  static std::optional<DatagramSocket> connected_to(const SocketAddress& address);

  int descriptor() const { return descriptor_; }
  /// Its own address with the port.
  SocketAddress address() const;
  /// `to`: null when it is connected. A datagram that the system refuses is lost like any other.
  void send(const NodesMessage& message, const SocketAddress* to) const;
  /// Returns a message that has come, if there is one and it is valid. Never blocks.
  std::optional<NodesMessage> receive(SocketAddress* from) const;

 private:
  int descriptor_ = -1;
};

/// Returns the addresses of this machine's network interfaces that are up, without ports: IPv4
/// first, loopback last.
std::vector<SocketAddress> own_addresses();

/// Waits until one of the sockets has something, but no longer than the time given.
void wait_for_datagram(std::span<const DatagramSocket> sockets, int timeout_ms);

/// Makes a number that can't be guessed.
Token make_token();

}  // namespace stria::mpiio
