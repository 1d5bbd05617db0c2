// Where a server's clients knock.
#pragma once

#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/address.hpp"

namespace stria::server {

/// Listening sockets, one for each address that the name has.
class Listener {
 public:
  /// kPermissionDenied when others than this machine could knock and `only_loopback` is set.
  static Result<Listener> open(const std::string& address, bool only_loopback);
  Listener(Listener&& other) noexcept : sockets_(std::move(other.sockets_)), address_(std::move(other.address_)) {
    other.sockets_.clear();
  }
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  /// With the real port.
  const wire::Address& address() const { return address_; }
  /// The sockets, which the caller closes from now on.
  std::vector<int> release();

 private:
  Listener() = default;
  Status add(wire::SocketAddress place);
  std::vector<int> sockets_;
  wire::Address address_;
};

}  // namespace stria::server
