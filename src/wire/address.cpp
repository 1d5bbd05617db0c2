#include "wire/address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/shown_path.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxManagers = 8;

Status bad_address(std::string_view text) {
  return Status(ErrorCode::kInvalidArgument,
                "'" + std::string(text) + "' is not a server's address: use host:port, [v6]:port or unix:/path");
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  Address address;
  if (text.starts_with(kUnixPrefix)) {
    address.is_unix = true;
    address.host = text.substr(kUnixPrefix.size());
    if (address.host.empty() || address.host.size() >= sizeof(sockaddr_un{}.sun_path)) {
      return bad_address(text);
    }
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return bad_address(text);
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text);
  }
  address.host = host;
  address.port = text.substr(colon + 1);
  const bool good_port = !address.port.empty() && address.port.size() <= 5 &&
                         address.port.find_first_not_of("0123456789") == std::string::npos && std::stoi(address.port) <= 65535;
  return good_port && !host.empty() && host.find(',') == std::string_view::npos ? Result<Address>(address) : bad_address(text);
}

std::string Address::text() const {
  if (is_unix) {
    return std::string(kUnixPrefix) + host;
  }
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

// A single socket may have commas in its path.
Result<std::vector<Address>> parse_addresses(std::string_view text) {
  std::vector<Address> addresses;
  const auto whole = Address::parse(text);
  if (whole.ok() && (!whole->is_unix || text.find(",unix:") == std::string_view::npos)) {
    return std::vector<Address>{*whole};
  }
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    STRIA_ASSIGN_OR_RETURN(Address next, Address::parse(text.substr(at, end - at)));
    addresses.push_back(std::move(next));
    at = end + 1;
  }
  return addresses.size() <= kMaxManagers ? Result<std::vector<Address>>(std::move(addresses))
                                          : Status(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' names more than " +
                                                                                    std::to_string(kMaxManagers) + " managers");
}

Result<std::vector<SocketAddress>> resolve(const Address& address) {
  std::vector<SocketAddress> found;
  if (address.is_unix) {
    SocketAddress& one = found.emplace_back();
    auto* local = reinterpret_cast<sockaddr_un*>(&one.storage);
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, address.host.c_str(), address.host.size() + 1);
    one.bytes = sizeof *local;
    return found;
  }
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  if (error != 0) {
    // It isn't known where the name servers don't answer.
    return Status(error == EAI_AGAIN ? ErrorCode::kIo : ErrorCode::kNotFound,
                  "no machine is called '" + address.host + "': " + gai_strerror(error));
  }
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    SocketAddress& one = found.emplace_back();
    std::memcpy(&one.storage, entry->ai_addr, entry->ai_addrlen);
    one.bytes = entry->ai_addrlen;
  }
  return found;
}

bool is_loopback(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  if (address.family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
  return address.family() == AF_UNIX;
}

bool is_wildcard(const SocketAddress& address) {
  if (address.family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  return address.family() == AF_INET && v4->sin_addr.s_addr == htonl(INADDR_ANY);
}

namespace {

/// Says where the list of servers ends that a path of a store begins with, and whether a colon ends
/// it.
struct ServersEnd {
  size_t at = 0;
  bool colon = false;
};

// The path of a Unix socket has slashes, and ends at a colon, or at a comma before another address.
ServersEnd servers_end(std::string_view rest) {
  size_t at = 0;
  while (true) {
    if (rest.substr(at).starts_with(kUnixPrefix)) {
      const size_t colon = rest.find(':', at + kUnixPrefix.size());
      const size_t comma = rest.find(",unix:", at);
      if (comma == std::string_view::npos || comma > colon) {
        return {std::min(colon, rest.size()), colon != std::string_view::npos};
      }
      at = comma + 1;
      continue;
    }
    const size_t end = std::min(rest.find_first_of("/,", at), rest.size());
    if (end == rest.size() || rest[end] == '/') {
      return {end, false};
    }
    at = end + 1;
  }
}

}  // namespace

Result<StorePath> StorePath::parse(std::string_view text) {
  if (!is_store_path(text)) {
    return Status(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' does not begin with stria://");
  }
  const std::string_view rest = text.substr(kStorePrefix.size());
  const ServersEnd end = servers_end(rest);
  StorePath parsed;
  parsed.server = rest.substr(0, end.at);
  STRIA_RETURN_IF_ERROR(parse_addresses(parsed.server).status().with_context(std::string(text)));
  parsed.path = rest.substr(end.at + (end.colon ? 1 : 0));
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, split_path(parsed.path));
  parsed.path.clear();
  for (const std::string& part : parts) {
    parsed.path += "/" + part;
  }
  parsed.path = parsed.path.empty() ? "/" : parsed.path;
  return parsed;
}

Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == ".." || part.size() > kMaxNameBytes || part.find('\0') != std::string_view::npos || parts.size() == kMaxDepth) {
      return Status(ErrorCode::kInvalidArgument, "'" + shown_path(path) + "' is not a path of a store");
    }
    parts.emplace_back(part);
  }
  return path.size() <= kMaxPathBytes ? Result<std::vector<std::string>>(std::move(parts))
                                      : Status(ErrorCode::kInvalidArgument, "a path is longer than 4096 bytes");
}

}  // namespace stria::wire
