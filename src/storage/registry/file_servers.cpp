#include "storage/registry/file_servers.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "storage/messages.hpp"
#include "storage/striped/store.hpp"
#include "wire/address.hpp"

namespace stria::storage {

namespace {

// The manager gives a server no new files after so long, unless it has heard of none.
constexpr int64_t kUpForMs = 6000;

Result<std::vector<wire::ServerPlace>> places_for_new_files(const std::string& path) {
  std::vector<wire::ServerPlace> places;
  if (!wire::is_store_path(path)) {
    return places;
  }
  STRIA_ASSIGN_OR_RETURN(const wire::StorePath parsed, wire::StorePath::parse(path));
  STRIA_ASSIGN_OR_RETURN(const auto store, Store::at(parsed.server));
  const auto reply = store->ask_manager(wire::Kind::kServers, {});
  STRIA_RETURN_IF_ERROR(reply.status().with_context(describe("look up the servers of", path)));
  STRIA_ASSIGN_OR_RETURN(const auto all, wire::decode<wire::StoreServers>(*reply));
  const auto conditions = ask_conditions(*store);
  STRIA_RETURN_IF_ERROR(conditions.status().with_context(describe("look up the servers of", path)));
  const auto takes_files = [&](int64_t server) {
    const auto& entries = conditions->entries;
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.server == server; });
    return found == entries.end() || found->takes_new_files();
  };
  for (const wire::StoreServers::Entry& server : all.servers) {
    if (server.silent_ms >= 0 && server.silent_ms < kUpForMs && takes_files(server.place.index)) {
      places.push_back(server.place);
    }
  }
  return places;
}

// A socket can be bound to the addresses of its own machine only.
bool is_own_address(wire::SocketAddress address) {
  if (address.family() == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
  } else if (address.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = 0;
  } else {
    return true;
  }
  const int probe = socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool is_own = probe >= 0 && bind(probe, address.get(), address.bytes) == 0;
  if (probe >= 0) {
    ::close(probe);
  }
  return is_own;
}

bool is_on_this_machine(const std::string& server) {
  const auto address = wire::Address::parse(server);
  const auto ways = address.ok() ? wire::resolve(*address) : Result<std::vector<wire::SocketAddress>>(address.status());
  return ways.ok() && std::any_of(ways->begin(), ways->end(), is_own_address);
}

}  // namespace

Result<std::vector<int>> servers_for_new_files(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto places, places_for_new_files(path));
  std::vector<int> up;
  for (const wire::ServerPlace& place : places) {
    up.push_back(static_cast<int>(place.index));
  }
  return up;
}

Result<std::vector<int>> servers_on_this_machine(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto places, places_for_new_files(path));
  std::vector<int> near;
  for (const wire::ServerPlace& place : places) {
    if (is_on_this_machine(place.address)) {
      near.push_back(static_cast<int>(place.index));
    }
  }
  return near.size() < places.size() ? near : std::vector<int>();
}

Result<std::vector<int>> servers_of_file(const std::string& path) {
  std::vector<int> servers;
  if (!wire::is_store_path(path)) {
    return servers;
  }
  STRIA_ASSIGN_OR_RETURN(const wire::StorePath parsed, wire::StorePath::parse(path));
  STRIA_ASSIGN_OR_RETURN(const auto store, Store::at(parsed.server));
  const auto reply = store->ask_manager(wire::Kind::kStat, wire::encode(wire::Path{parsed.path}));
  STRIA_RETURN_IF_ERROR(reply.status().with_context(describe("look up", path)));
  STRIA_ASSIGN_OR_RETURN(const auto attributes, wire::decode<wire::Attributes>(*reply));
  for (const wire::ServerPlace& slot : attributes.place.slots) {
    servers.push_back(static_cast<int>(slot.index));
  }
  return servers;
}

}  // namespace stria::storage
