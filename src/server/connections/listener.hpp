// The sockets at which a server's clients connect.
#pragma once

#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/address.hpp"

namespace stria::server {

/// Listening sockets, one for each address of the name.
class Listener {
 public:
  /// kPermissionDenied when other machines could connect and `only_loopback` is set.
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
