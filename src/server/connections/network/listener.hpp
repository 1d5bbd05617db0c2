// The sockets at which a server's clients connect.
#pragma once

#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/address.hpp"

namespace stria::server {

/// Has listening sockets, one for each address of the name.
class Listener {
 public:
  /// kPermissionDenied when other machines could connect and `only_loopback` is set.
  static Result<Listener> open(const std::string& address, bool only_loopback);
  Listener(Listener&& other) noexcept
      : sockets_(std::move(other.sockets_)), address_(std::move(other.address_)), is_everywhere_(other.is_everywhere_) {
    other.sockets_.clear();
  }
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  /// The address has the port that the system has chosen.
  const wire::Address& address() const { return address_; }
  /// It listens at every address of the machine, and not at one that clients could be told.
  bool is_everywhere() const { return is_everywhere_; }
  /// Returns the sockets, which the caller closes from now on.
  std::vector<int> release();

 private:
  Listener() = default;
  Status add(wire::SocketAddress place);
  std::vector<int> sockets_;
  wire::Address address_;
  bool is_everywhere_ = false;
};

}  // namespace stria::server
