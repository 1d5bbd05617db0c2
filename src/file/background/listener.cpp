#include "file/background/listener.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace stria::file {

namespace {

constexpr int kBacklog = 512;

Status failed(const char* what) {
  return Status::from_errno(errno, what);
}

ListeningPlaces::Place place_of(const in_addr& address) {
  ListeningPlaces::Place place;
  std::memcpy(place.address.data(), &address, sizeof address);
  return place;
}

ListeningPlaces::Place place_of(const in6_addr& address) {
  ListeningPlaces::Place place{.is_v6 = true, .address = {}};
  std::memcpy(place.address.data(), &address, sizeof address);
  return place;
}

/// Returns the machine's addresses that need no interface to be named, other machines' ways first.
Result<std::vector<ListeningPlaces::Place>> own_addresses(bool with_v6) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return failed("list the network's interfaces");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::array<std::vector<ListeningPlaces::Place>, 4> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    const size_t loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0 ? 2 : 0;
    if (entry->ifa_addr->sa_family == AF_INET) {
      found[loopback].push_back(place_of(reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr));
    } else if (entry->ifa_addr->sa_family == AF_INET6 && with_v6) {
      const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&address)) {
        found[loopback + 1].push_back(place_of(address));
      }
    }
  }
  std::vector<ListeningPlaces::Place> all;
  for (const auto& some : found) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

struct Any {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Any address_of(const ListeningPlaces::Place& place, uint16_t port) {
  Any any;
  if (place.is_v6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&any.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    std::memcpy(&v6->sin6_addr, place.address.data(), sizeof v6->sin6_addr);
    any.bytes = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&any.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = port;
    std::memcpy(&v4->sin_addr, place.address.data(), sizeof v4->sin_addr);
    any.bytes = sizeof *v4;
  }
  return any;
}

Socket make_socket(bool is_v6) {
  return Socket(socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// It listens at every address of the machine.
Result<Socket> listen_at_all(bool is_v6) {
  Socket made = make_socket(is_v6);
  const int off = 0;
  if (made.is_open() && is_v6) {
    setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  const Any any = address_of({.is_v6 = is_v6, .address = {}}, 0);
  if (!made.is_open() || bind(made.get(), any.get(), any.bytes) != 0 || listen(made.get(), kBacklog) != 0) {
    return failed("listen at a port");
  }
  return made;
}

uint16_t port_of(const Any& bound) {
  return bound.storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port;
}

}  // namespace

Result<Listener> Listener::open() {
  auto listening = listen_at_all(true);
  const bool with_v6 = listening.ok();
  if (!with_v6) {
    listening = listen_at_all(false);
  }
  STRIA_RETURN_IF_ERROR(listening.status());
  Any bound;
  bound.bytes = sizeof bound.storage;
  if (getsockname(listening->get(), bound.get(), &bound.bytes) != 0) {
    return failed("learn the port");
  }
  STRIA_ASSIGN_OR_RETURN(const auto addresses, own_addresses(with_v6));
  Listener listener;
  listener.socket_ = std::move(*listening);
  listener.places_.port = port_of(bound);
  listener.places_.count = std::min(addresses.size(), ListeningPlaces::kMost);
  std::copy_n(addresses.begin(), listener.places_.count, listener.places_.all.begin());
  return listener;
}

Result<Socket> Listener::accept() const {
  Socket accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const bool nobody = errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED || errno == EINTR;
  return accepted.is_open() || nobody ? Result<Socket>(std::move(accepted)) : failed("take a connection");
}

Result<Socket> begin_to_connect(const ListeningPlaces::Place& place, uint16_t port) {
  Socket made = make_socket(place.is_v6);
  const Any any = address_of(place, port);
  if (!made.is_open() || (connect(made.get(), any.get(), any.bytes) != 0 && errno != EINPROGRESS)) {
    return failed("connect to rank 0");
  }
  return made;
}

}  // namespace stria::file
