#include "server/manager/fleet/roster.hpp"

#include <algorithm>

#include "server/manager/database/names_fields.hpp"
#include "wire/frame.hpp"

namespace stria::server {

Status Roster::bury(uint64_t file) {
  std::vector<int64_t> servers;
  {
    Query found = database_.query("SELECT servers FROM inodes WHERE id = ? AND named = 0", static_cast<int64_t>(file));
    if (found.next()) {
      servers = decode_servers(found.bytes(0));
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  for (const int64_t place : servers) {
    const int64_t server = wire::server_of(place);
    STRIA_ASSIGN_OR_RETURN(const bool retired, is_retired(server));
    if (retired) {
      continue;
    }
    STRIA_RETURN_IF_ERROR(database_.run("INSERT OR IGNORE INTO dead VALUES (?, ?)", server,
                                        static_cast<int64_t>(wire::part_number(file, wire::is_second(place)))));
  }
  return database_.run("DELETE FROM inodes WHERE id = ? AND named = 0", static_cast<int64_t>(file));
}

Result<std::vector<uint64_t>> Roster::to_remove(int64_t server) {
  std::vector<uint64_t> files;
  Query query =
      database_.query("SELECT file FROM dead WHERE server = ? LIMIT ?", server, static_cast<int64_t>(wire::kMaxListed));
  while (query.next()) {
    files.push_back(static_cast<uint64_t>(query.number(0)));
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return files;
}

Status Roster::removed(int64_t server, const std::vector<uint64_t>& files) {
  for (const uint64_t file : files) {
    STRIA_RETURN_IF_ERROR(database_.run("DELETE FROM dead WHERE server = ? AND file = ?", server, static_cast<int64_t>(file)));
  }
  return {};
}

Status Roster::take_address(int64_t server, const std::string& address) {
  return database_.run("UPDATE servers SET address = x'' WHERE address = ? AND id <> ?", std::string_view(address), server);
}

Result<int64_t> Roster::register_server(const wire::Identity& identity, const std::string& address) {
  int64_t index = -1;
  bool moved = false;
  {
    Query found = database_.query("SELECT id, address FROM servers WHERE identity = ?", std::span<const std::byte>(identity));
    if (found.next()) {
      index = found.number(0);
      moved = found.text(1) != address;
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  if (index < 0) {
    Query count = database_.query("SELECT count(*) FROM servers");
    index = count.next() ? count.number(0) : 0;
    STRIA_RETURN_IF_ERROR(count.status());
    if (index >= wire::kMaxSlots) {
      return Status(ErrorCode::kResourceExhausted, "the store has as many servers as it may");
    }
    unsynced_.note();
    STRIA_RETURN_IF_ERROR(database_.run("INSERT INTO servers VALUES (?, ?, ?)", index, std::span<const std::byte>(identity),
                                        std::string_view(address)));
    STRIA_RETURN_IF_ERROR(take_address(index, address));
    return index;
  }
  STRIA_ASSIGN_OR_RETURN(const bool retired, is_retired(index));
  if (retired) {
    return Status(ErrorCode::kInvalidArgument, "server " + std::to_string(index) +
                                                   " was taken out of the store: to join anew, start it in an empty directory");
  }
  if (moved) {
    unsynced_.note();
    STRIA_RETURN_IF_ERROR(database_.run("UPDATE servers SET address = ? WHERE id = ?", std::string_view(address), index));
    STRIA_RETURN_IF_ERROR(take_address(index, address));
  }
  return index;
}

Result<std::vector<Roster::Server>> Roster::servers() {
  std::vector<Server> servers;
  Query query = database_.query(
      "SELECT id, address, EXISTS (SELECT 1 FROM meta WHERE key = 'retired ' || id), "
      "EXISTS (SELECT 1 FROM meta WHERE key = 'closed ' || id), EXISTS (SELECT 1 FROM meta WHERE key = 'left ' || id), "
      "identity FROM servers ORDER BY id");
  while (query.next()) {
    Server& server = servers.emplace_back();
    server.index = query.number(0);
    server.address = query.text(1);
    server.retired = query.number(2) != 0;
    server.closed = query.number(3) != 0;
    server.left = query.number(4) != 0;
    const std::vector<std::byte> identity = query.bytes(5);
    std::copy_n(identity.begin(), std::min(identity.size(), server.identity.size()), server.identity.begin());
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return servers;
}

Result<bool> Roster::is_retired(int64_t server) {
  Query found = database_.query("SELECT 1 FROM meta WHERE key = 'retired ' || ?", server);
  const bool retired = found.next();
  STRIA_RETURN_IF_ERROR(found.status());
  return retired;
}

Result<uint64_t> Roster::count_parts(int64_t server) {
  uint64_t count = 0;
  Query files = database_.query("SELECT servers FROM inodes WHERE directory = 0");
  while (files.next()) {
    const std::vector<int64_t> on = decode_servers(files.bytes(0));
    count += std::any_of(on.begin(), on.end(), [&](int64_t place) { return wire::server_of(place) == server; }) ? 1 : 0;
  }
  STRIA_RETURN_IF_ERROR(files.status());
  return count;
}

Status Roster::set_mark(std::string_view what, int64_t server, bool holds) {
  STRIA_RETURN_IF_ERROR(holds
                            ? database_.run("INSERT OR IGNORE INTO meta VALUES (CAST(? AS TEXT) || ' ' || ?, 1)", what, server)
                            : database_.run("DELETE FROM meta WHERE key = CAST(? AS TEXT) || ' ' || ?", what, server));
  unsynced_.note();
  return unsynced_.sync();
}

Status Roster::set_new_files(int64_t server, bool taken) {
  return set_mark("closed", server, !taken);
}

Status Roster::set_left(int64_t server, bool left) {
  return set_mark("left", server, left);
}

Status Roster::retire(int64_t server) {
  Transaction transaction(database_);
  STRIA_RETURN_IF_ERROR(transaction.status());
  STRIA_RETURN_IF_ERROR(database_.run("UPDATE servers SET address = x'' WHERE id = ?", server));
  STRIA_RETURN_IF_ERROR(database_.run("DELETE FROM dead WHERE server = ?", server));
  STRIA_RETURN_IF_ERROR(database_.run("DELETE FROM meta WHERE key = 'left ' || ?", server));
  STRIA_RETURN_IF_ERROR(database_.run("INSERT OR IGNORE INTO meta VALUES ('retired ' || ?, 1)", server));
  STRIA_RETURN_IF_ERROR(transaction.commit());
  unsynced_.note();
  return unsynced_.sync();
}

}  // namespace stria::server
