#include "mpiio/nodes/datagrams.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stria::mpiio {

namespace {

sockaddr_storage storage_of(const SocketAddress& address) {
  sockaddr_storage storage{};
  std::memcpy(&storage, address.bytes.data(), std::min<size_t>(address.length, address.bytes.size()));
  return storage;
}

using Attach = int (*)(int, const sockaddr*, socklen_t);

std::optional<DatagramSocket> open_socket(const SocketAddress& address, Attach attach) {
  const sockaddr_storage storage = storage_of(address);
  DatagramSocket socket(::socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* plain = reinterpret_cast<const sockaddr*>(&storage);
  if (socket.descriptor() < 0 || attach(socket.descriptor(), plain, address.length) != 0) {
    return std::nullopt;
  }
  return socket;
}

bool is_usable(const ifaddrs& interface) {
  if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0) {
    return false;
  }
  if (interface.ifa_addr->sa_family == AF_INET6) {
    // Link-local addresses mean nothing without the name of the interface, which other
    // machines don't have.
    const auto& address = *reinterpret_cast<const sockaddr_in6*>(interface.ifa_addr);
    return !IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr);
  }
  return interface.ifa_addr->sa_family == AF_INET;
}

}  // namespace

SocketAddress SocketAddress::of(const sockaddr* address, socklen_t length) {
  SocketAddress made;
  made.length = std::min<uint32_t>(length, made.bytes.size());
  std::memcpy(made.bytes.data(), address, made.length);
  return made;
}

std::string SocketAddress::text() const {
  const sockaddr_storage storage = storage_of(*this);
  char text[INET6_ADDRSTRLEN] = "?";
  if (storage.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
    inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(address.sin6_port));
  }
  const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(address.sin_port));
}

DatagramSocket::DatagramSocket(DatagramSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DatagramSocket& DatagramSocket::operator=(DatagramSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DatagramSocket::~DatagramSocket() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

std::optional<DatagramSocket> DatagramSocket::bound_to(const SocketAddress& address) {
  return open_socket(address, ::bind);
}

std::optional<DatagramSocket> DatagramSocket::connected_to(const SocketAddress& address) {
  return open_socket(address, ::connect);
}

SocketAddress DatagramSocket::address() const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&storage), &length);
  return SocketAddress::of(reinterpret_cast<const sockaddr*>(&storage), length);
}

void DatagramSocket::send(const NodesMessage& message, const SocketAddress* to) const {
  const sockaddr_storage storage = to == nullptr ? sockaddr_storage{} : storage_of(*to);
  const auto* plain = to == nullptr ? nullptr : reinterpret_cast<const sockaddr*>(&storage);
  // There are two attempts, because the first call may report an earlier datagram that was refused.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (sendto(descriptor_, &message, sizeof message, MSG_NOSIGNAL, plain, to == nullptr ? 0 : to->length) >= 0) {
      return;
    }
  }
}

std::optional<NodesMessage> DatagramSocket::receive(SocketAddress* from) const {
  NodesMessage message;
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  const ssize_t bytes =
      recvfrom(descriptor_, &message, sizeof message, MSG_TRUNC, reinterpret_cast<sockaddr*>(&storage), &length);
  if (bytes != static_cast<ssize_t>(sizeof message)) {
    return std::nullopt;
  }
  if (from != nullptr) {
    *from = SocketAddress::of(reinterpret_cast<const sockaddr*>(&storage), length);
  }
  return message;
}

std::vector<SocketAddress> own_addresses() {
  std::vector<SocketAddress> addresses;
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) {
    return addresses;
  }
  for (const bool loopback : {false, true}) {
    for (const int family : {AF_INET, AF_INET6}) {
      for (const ifaddrs* interface = interfaces; interface != nullptr; interface = interface->ifa_next) {
        const bool is_loopback = (interface->ifa_flags & IFF_LOOPBACK) != 0;
        if (is_usable(*interface) && interface->ifa_addr->sa_family == family && is_loopback == loopback) {
          const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
          addresses.push_back(SocketAddress::of(interface->ifa_addr, length));
        }
      }
    }
  }
  freeifaddrs(interfaces);
  return addresses;
}

void wait_for_datagram(std::span<const DatagramSocket> sockets, int timeout_ms) {
  std::vector<pollfd> waits;
  for (const DatagramSocket& socket : sockets) {
    waits.push_back({socket.descriptor(), POLLIN, 0});
  }
  poll(waits.data(), waits.size(), timeout_ms);
}

Token make_token() {
  Token token;
  auto* bytes = reinterpret_cast<std::byte*>(token.words.data());
  for (size_t done = 0; done < sizeof token.words;) {
    const ssize_t now = getrandom(bytes + done, sizeof token.words - done, 0);
    done += now > 0 ? static_cast<size_t>(now) : 0;
  }
  return token;
}

}  // namespace stria::mpiio
