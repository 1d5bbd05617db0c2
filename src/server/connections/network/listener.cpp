#include "server/connections/network/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stria::server {

namespace {

constexpr int kBacklog = 1024;

/// A socket's file at which no server listens any more would stand in the way of the next server.
void remove_dead_socket(const wire::Address& address, const wire::SocketAddress& place) {
  struct stat details = {};
  if (lstat(address.host.c_str(), &details) != 0 || !S_ISSOCK(details.st_mode)) {
    return;
  }
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe >= 0 && connect(probe, place.get(), place.bytes) != 0 && errno == ECONNREFUSED) {
    unlink(address.host.c_str());
  }
  if (probe >= 0) {
    ::close(probe);
  }
}

/// Lets every user connect. The directory may be one in which others make files: a link that one
/// has put in the socket's place isn't followed.
Status open_to_all(const std::string& path) {
  const int found = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat details = {};
  bool done = found >= 0 && fstat(found, &details) == 0;
  if (done && !S_ISSOCK(details.st_mode)) {
    errno = EEXIST;
    done = false;
  }
  done = done && chmod(("/proc/self/fd/" + std::to_string(found)).c_str(), 0666) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno, "chmod");
  if (found >= 0) {
    ::close(found);
  }
  return outcome;
}

in_port_t& port_of(wire::SocketAddress& place) {
  return place.family() == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&place.storage)->sin6_port
                                    : reinterpret_cast<sockaddr_in*>(&place.storage)->sin_port;
}

}  // namespace

Result<Listener> Listener::open(const std::string& address, bool only_loopback) {
  Listener listener;
  STRIA_ASSIGN_OR_RETURN(listener.address_, wire::Address::parse(address));
  STRIA_ASSIGN_OR_RETURN(const auto places, wire::resolve(listener.address_));
  for (const wire::SocketAddress& place : places) {
    if (only_loopback && !wire::is_loopback(place)) {
      return Status(ErrorCode::kPermissionDenied, "listen on '" + address +
                                                      "': without a key a server listens on this machine only; give it one "
                                                      "(--key FILE), use MUNGE (--munge), or listen on 127.0.0.1");
    }
    listener.is_everywhere_ = listener.is_everywhere_ || wire::is_wildcard(place);
    STRIA_RETURN_IF_ERROR(listener.add(place).with_context("listen on '" + address + "'"));
  }
  return listener;
}

Status Listener::add(wire::SocketAddress place) {
  if (address_.is_unix) {
    remove_dead_socket(address_, place);
  } else if (!sockets_.empty()) {
    // All sockets have the port that was chosen for the first one.
    port_of(place) = htons(static_cast<uint16_t>(std::stoi(address_.port)));
  }
  const int made = socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) {
    return Status::from_errno(errno, "socket");
  }
  sockets_.push_back(made);
  const int on = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.family() == AF_INET6) {
    setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (bind(made, place.get(), place.bytes) != 0) {
    return errno == EADDRINUSE ? Status(ErrorCode::kAlreadyExists, "another program listens there")
                               : Status::from_errno(errno, "bind");
  }
  // The kernel says who connects, and each gets what the modes of files allow.
  STRIA_RETURN_IF_ERROR(address_.is_unix ? open_to_all(address_.host) : Status());
  if (::listen(made, kBacklog) != 0) {
    return Status::from_errno(errno, "listen");
  }
  if (!address_.is_unix && sockets_.size() == 1) {
    place.bytes = sizeof place.storage;
    getsockname(made, reinterpret_cast<sockaddr*>(&place.storage), &place.bytes);
    address_.port = std::to_string(ntohs(port_of(place)));
  }
  return {};
}

Listener::~Listener() {
  for (const int each : sockets_) {
    ::close(each);
  }
}

std::vector<int> Listener::release() {
  return std::exchange(sockets_, {});
}

}  // namespace stria::server
