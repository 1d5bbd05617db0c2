// Addresses of servers, and paths of a store: stria://SERVER/PATH. SERVER is host:port, [v6]:port
// or unix:/socket: (the path of a Unix socket ends at the next colon); or several of them with
// commas between, where the store has a standby manager.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "stria/status.hpp"

namespace stria::wire {

struct Address {
  bool is_unix = false;
  std::string host;  ///< or the socket's path
  std::string port;

  /// Reads "host:port", "[v6]:port" or "unix:/socket". kInvalidArgument for anything else.
  static Result<Address> parse(std::string_view text);
  std::string text() const;
};

/// Parses the addresses of a list: one, or several with commas between ("a:7700,b:7700"), of which
/// one is the manager's at any time. kInvalidArgument for anything else.
Result<std::vector<Address>> parse_addresses(std::string_view text);

/// Holds what a socket needs to reach an address, or to listen at it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Every way to reach the address, best first. kNotFound when the name has none.
Result<std::vector<SocketAddress>> resolve(const Address& address);

/// True when only this machine can reach it.
bool is_loopback(const SocketAddress& address);

/// True for what stands for every address of a machine, which no client can reach.
bool is_wildcard(const SocketAddress& address);

inline constexpr std::string_view kStorePrefix = "stria://";

inline bool is_store_path(std::string_view path) {
  return path.starts_with(kStorePrefix);
}

/// A path of a store, taken apart.
struct StorePath {
  std::string server;  ///< the manager's address, or a list (parse_addresses())
  std::string path;    ///< within the store: "/a/b", "/" for its root
  static Result<StorePath> parse(std::string_view text);
};

/// Returns the components of a path within a store. kInvalidArgument for "..", for names beyond the
/// protocol's limits, and for more than 64 of them.
Result<std::vector<std::string>> split_path(std::string_view path);

}  // namespace stria::wire
