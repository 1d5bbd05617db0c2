#include "server/manager/names_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "server/manager/database/names_fields.hpp"
#include "wire/frame.hpp"

namespace stria::server {

namespace {

constexpr int64_t kRootDirectory = 1;
constexpr int kMostDepth = 1024;  // directories; more can only be a circle in a damaged database
constexpr uint32_t kOwnersDirectory = 0700;
constexpr uint32_t kOwnersFile = 0600;

Status check_super(const Caller& caller) {
  return caller.is_super ? Status() : Status(ErrorCode::kPermissionDenied, "only root and the manager's user check a store");
}

struct Link {
  int64_t parent = 0;
  std::string name;
};

/// Returns the path of a link, whose directories are known; empty where one of them isn't.
std::string path_of(const Link& link, const std::unordered_map<int64_t, Link>& directories) {
  std::string path = "/" + link.name;
  int64_t at = link.parent;
  for (int depth = 0; at != kRootDirectory && depth < kMostDepth; ++depth) {
    const auto above = directories.find(at);
    if (above == directories.end()) {
      return "";
    }
    path = "/" + above->second.name + path;
    at = above->second.parent;
  }
  return path.substr(0, wire::kMaxPathBytes);
}

}  // namespace

Result<wire::NamedListed> NamesCheck::list(const Caller& caller, const wire::Named& request) {
  STRIA_RETURN_IF_ERROR(check_super(caller));
  wire::NamedListed listed;
  size_t bytes = 0;
  Query query =
      names_.database().query("SELECT id, named, stripe_bytes, servers FROM inodes WHERE id > ? AND directory = 0 ORDER BY id",
                              static_cast<int64_t>(request.after));
  while (query.next()) {
    listed.more = listed.entries.size() == wire::kMaxListed || bytes > wire::kMaxBodyBytes / 2;
    if (listed.more) {
      break;
    }
    listed.entries.push_back(
        {static_cast<uint64_t>(query.number(0)), query.number(1) != 0, query.number(2), decode_servers(query.bytes(3))});
    constexpr size_t kMostBytesOfServer = 2;
    constexpr size_t kMostBytesBesides = 20;
    bytes += kMostBytesBesides + listed.entries.back().servers.size() * kMostBytesOfServer;
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return listed;
}

Result<NamesCheck::Row> NamesCheck::row_of(uint64_t file) {
  Row row;
  Query query = names_.database().query("SELECT stripe_bytes, servers FROM inodes WHERE id = ? AND directory = 0",
                                        static_cast<int64_t>(file));
  row.found = query.next();
  if (row.found) {
    row.stripe_bytes = query.number(0);
    row.servers = decode_servers(query.bytes(1));
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return row;
}

Result<wire::PartsKnown::Entry> NamesCheck::known_part(int64_t server, uint64_t part) {
  wire::PartsKnown::Entry entry;
  const uint64_t file = wire::file_of_part(part);
  STRIA_ASSIGN_OR_RETURN(const Row row, row_of(file));
  if (row.found) {
    const auto slot = std::find(row.servers.begin(), row.servers.end(), wire::place_on(server, part != file));
    entry.known = slot == row.servers.end() ? wire::PartKnown::kElsewhere : wire::PartKnown::kHere;
    if (slot != row.servers.end()) {
      entry.striped = {row.stripe_bytes, static_cast<int64_t>(row.servers.size()), slot - row.servers.begin()};
    }
  }
  if (entry.known == wire::PartKnown::kHere) {
    return entry;
  }
  Query leaves =
      names_.database().query("SELECT 1 FROM dead WHERE server = ? AND file = ?", server, static_cast<int64_t>(part));
  if (moves_.comes_to(server, part) || leaves.next()) {
    entry.known = wire::PartKnown::kLeaves;
  }
  STRIA_RETURN_IF_ERROR(leaves.status());
  return entry;
}

Result<wire::PartsKnown> NamesCheck::known(const Caller& caller, const wire::PartsOf& request) {
  STRIA_RETURN_IF_ERROR(check_super(caller));
  wire::PartsKnown answer;
  for (const uint64_t file : request.files) {
    STRIA_ASSIGN_OR_RETURN(const auto entry, known_part(request.server, file));
    answer.entries.push_back(entry);
  }
  return answer;
}

Result<wire::Paths> NamesCheck::paths(const Caller& caller, const wire::PartsOf& request) {
  STRIA_RETURN_IF_ERROR(check_super(caller));
  std::unordered_set<uint64_t> wanted;
  for (const uint64_t part : request.files) {
    wanted.insert(wire::file_of_part(part));
  }
  std::unordered_map<int64_t, Link> directories;
  std::unordered_map<uint64_t, Link> files;
  Query query = names_.database().query("SELECT parent, name, inode, directory FROM entries JOIN inodes ON inode = id");
  while (query.next()) {
    const Link link{query.number(0), query.text(1)};
    if (query.number(3) != 0) {
      directories.emplace(query.number(2), link);
    } else if (const auto file = static_cast<uint64_t>(query.number(2)); wanted.contains(file)) {
      files.emplace(file, link);
    }
  }
  STRIA_RETURN_IF_ERROR(query.status());
  wire::Paths answer;
  size_t bytes = 0;
  for (const uint64_t file : request.files) {
    const auto found = files.find(wire::file_of_part(file));
    std::string path = found == files.end() ? "" : path_of(found->second, directories);
    bytes += path.size() + 2;
    answer.paths.push_back(bytes > wire::kMaxBodyBytes / 2 ? std::string() : std::move(path));
  }
  return answer;
}

Status NamesCheck::move_parts(const wire::Adopt& request, const Row& row) {
  if (row.stripe_bytes != request.stripe_bytes || row.servers.size() != request.servers.size()) {
    return Status(ErrorCode::kAlreadyExists, "a file of that number is there, and striped otherwise");
  }
  if (is_open_(request.file)) {
    return Status(ErrorCode::kAlreadyExists, "the file is open: its clients know where its parts were");
  }
  return names_.database().run("UPDATE inodes SET servers = ? WHERE id = ?",
                               std::span<const std::byte>(encode_servers(request.servers)), static_cast<int64_t>(request.file));
}

Result<wire::Path> NamesCheck::adopt(const Caller& caller, const wire::Adopt& request) {
  STRIA_RETURN_IF_ERROR(check_super(caller));
  const std::unordered_set<int64_t> different(request.servers.begin(), request.servers.end());
  const auto slots = static_cast<int64_t>(request.servers.size());
  if (!wire::Layout{request.stripe_bytes, slots}.valid() || different.size() != request.servers.size() || request.file == 0) {
    return Status(ErrorCode::kInvalidArgument, "no file is striped so");
  }
  for (const int64_t place : request.servers) {
    const int64_t server = wire::server_of(place);
    Query found = names_.database().query("SELECT 1 FROM servers WHERE id = ?", server);
    if (!found.next()) {
      return found.status().ok() ? Status(ErrorCode::kInvalidArgument, "the store has no server " + std::to_string(server))
                                 : found.status();
    }
  }
  STRIA_ASSIGN_OR_RETURN(const Row row, row_of(request.file));
  names_.unsynced().note();
  if (row.found) {
    STRIA_RETURN_IF_ERROR(move_parts(request, row));
    return wire::Path{};
  }
  for (const int64_t place : request.servers) {
    const uint64_t part = wire::part_number(request.file, wire::is_second(place));
    STRIA_ASSIGN_OR_RETURN(const auto entry, known_part(wire::server_of(place), part));
    if (entry.known == wire::PartKnown::kLeaves) {
      return Status(ErrorCode::kAlreadyExists, "the file was removed just now");
    }
  }
  const Status made = names_.make_directory(caller, {kLostAndFound, kOwnersDirectory});
  STRIA_RETURN_IF_ERROR(made.code() == ErrorCode::kAlreadyExists ? Status() : made);
  const std::string path = fmt::format("{}/{:016x}", kLostAndFound, request.file);
  STRIA_RETURN_IF_ERROR(names_.create_as(caller, {path, kOwnersFile}, {request.stripe_bytes, request.servers}, request.file));
  return wire::Path{path};
}

Result<wire::Discarded> NamesCheck::discard(const Caller& caller, const wire::PartsOf& request) {
  STRIA_RETURN_IF_ERROR(check_super(caller));
  wire::Discarded done;
  for (const uint64_t file : request.files) {
    STRIA_ASSIGN_OR_RETURN(const auto entry, known_part(request.server, file));
    if (entry.known != wire::PartKnown::kUnknown && entry.known != wire::PartKnown::kElsewhere) {
      continue;
    }
    names_.unsynced().note();
    STRIA_RETURN_IF_ERROR(
        names_.database().run("INSERT OR IGNORE INTO dead VALUES (?, ?)", request.server, static_cast<int64_t>(file)));
    ++done.files;
  }
  return done;
}

}  // namespace stria::server
