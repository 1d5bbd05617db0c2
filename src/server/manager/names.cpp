#include "server/manager/names.hpp"

#include <chrono>

#include "wire/address.hpp"
#include "wire/frame.hpp"

namespace stria::server {

namespace {

constexpr int64_t kRoot = 1;
constexpr int kStartShift = 36;  // so many bits count the files made in one run of the manager

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inodes (id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, named INTEGER NOT NULL,
  created_ns INTEGER NOT NULL, stripe_bytes INTEGER NOT NULL, servers BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS entries (parent INTEGER NOT NULL, name BLOB NOT NULL, inode INTEGER NOT NULL,
  PRIMARY KEY (parent, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS servers (id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, address BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS dead (server INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (server, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (session BLOB PRIMARY KEY, request INTEGER NOT NULL, reply BLOB NOT NULL,
  at_ns INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('format', 1), ('starts', 0), ('syncs', 0);
INSERT OR IGNORE INTO inodes VALUES (1, 1, 1, 0, 0, x'');
)";

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Status not_found() {
  return Status(ErrorCode::kNotFound, "No such file or directory");
}

std::vector<std::byte> encode_servers(const std::vector<int64_t>& servers) {
  std::vector<std::byte> bytes;
  wire::Writer writer(bytes);
  for (const int64_t server : servers) {
    writer.fixed(static_cast<uint32_t>(server));
  }
  return bytes;
}

std::vector<int64_t> decode_servers(std::span<const std::byte> bytes) {
  std::vector<int64_t> servers;
  wire::Reader reader(bytes);
  for (size_t i = 0; i < bytes.size() / sizeof(uint32_t); ++i) {
    servers.push_back(reader.fixed<uint32_t>());
  }
  return servers;
}

}  // namespace

Result<std::unique_ptr<Names>> Names::open(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(auto database, Database::open(path));
  auto names = std::make_unique<Names>(std::move(database));
  STRIA_RETURN_IF_ERROR(names->prepare().with_context("'" + path + "'"));
  return names;
}

Status Names::prepare() {
  STRIA_RETURN_IF_ERROR(database_->script(kSchema));
  int64_t format = 0;
  int64_t starts = 0;
  {
    Query meta = database_->query("SELECT value FROM meta WHERE key = 'format'");
    format = meta.next() ? meta.number(0) : 0;
  }
  if (format != 1) {
    return Status(ErrorCode::kFormat, "written by another version of Stria");
  }
  STRIA_RETURN_IF_ERROR(database_->run("UPDATE meta SET value = value + 1 WHERE key = 'starts'"));
  {
    Query meta = database_->query("SELECT value FROM meta WHERE key = 'starts'");
    starts = meta.next() ? meta.number(0) : 0;
  }
  next_file_ = (starts << kStartShift) + 2;
  return sync();
}

Result<Names::Entry> Names::walk(std::string_view path, bool make_directories) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, wire::split_path(path));
  Entry at{0, "", kRoot, true};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (at.inode == 0 && make_directories) {
      STRIA_ASSIGN_OR_RETURN(at.inode, make_inode(true, {}));
      STRIA_RETURN_IF_ERROR(
          database_->run("INSERT INTO entries VALUES (?, ?, ?)", at.parent, std::string_view(at.name), at.inode));
      at.is_directory = true;
    }
    if (at.inode == 0) {
      return not_found();
    }
    if (!at.is_directory) {
      return Status(ErrorCode::kNotFound, "'" + at.name + "' is a file, not a directory");
    }
    at = {at.inode, parts[i], 0, false};
    Query found =
        database_->query("SELECT inode, directory FROM entries JOIN inodes ON inode = id WHERE parent = ? AND name = ?",
                         at.parent, std::string_view(at.name));
    if (found.next()) {
      at.inode = found.number(0);
      at.is_directory = found.number(1) != 0;
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  return at;
}

Result<NamedFile> Names::find(std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(path, false));
  Query found = database_->query("SELECT directory, created_ns, stripe_bytes, servers FROM inodes WHERE id = ?", entry.inode);
  if (!found.next()) {
    return found.status().ok() ? not_found() : found.status();
  }
  return NamedFile{static_cast<uint64_t>(entry.inode), found.number(0) != 0, found.number(1), found.number(2),
                   decode_servers(found.bytes(3))};
}

Result<int64_t> Names::make_inode(bool is_directory, const Placement& placement) {
  dirty_ = true;
  const int64_t id = next_file_++;
  STRIA_RETURN_IF_ERROR(database_->run("INSERT INTO inodes VALUES (?, ?, 1, ?, ?, ?)", id, int64_t{is_directory}, now_ns(),
                                       placement.stripe_bytes, std::span<const std::byte>(encode_servers(placement.servers))));
  return id;
}

Result<NamedFile> Names::create(std::string_view path, const Placement& placement) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(path, true));
  STRIA_ASSIGN_OR_RETURN(const int64_t id, make_inode(false, placement));
  STRIA_RETURN_IF_ERROR(database_->run("INSERT INTO entries VALUES (?, ?, ?)", entry.parent, std::string_view(entry.name), id));
  return NamedFile{static_cast<uint64_t>(id), false, 0, placement.stripe_bytes, placement.servers};
}

Status Names::make_directory(std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(path, true));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t id, make_inode(true, {}));
  return database_->run("INSERT INTO entries VALUES (?, ?, ?)", entry.parent, std::string_view(entry.name), id);
}

Status Names::lose_name(const Entry& entry) {
  dirty_ = true;
  STRIA_RETURN_IF_ERROR(
      database_->run("DELETE FROM entries WHERE parent = ? AND name = ?", entry.parent, std::string_view(entry.name)));
  return entry.is_directory ? database_->run("DELETE FROM inodes WHERE id = ?", entry.inode)
                            : database_->run("UPDATE inodes SET named = 0 WHERE id = ?", entry.inode);
}

Result<bool> Names::is_empty(int64_t directory) {
  Query any = database_->query("SELECT 1 FROM entries WHERE parent = ? LIMIT 1", directory);
  const bool empty = !any.next();
  STRIA_RETURN_IF_ERROR(any.status());
  return empty;
}

Result<std::optional<uint64_t>> Names::rename(std::string_view from, std::string_view to) {
  STRIA_ASSIGN_OR_RETURN(const Entry source, walk(from, false));
  if (source.inode == 0 || source.parent == 0) {
    return not_found();
  }
  STRIA_ASSIGN_OR_RETURN(const Entry target, walk(to, true));
  if (target.inode == source.inode) {
    return std::optional<uint64_t>();
  }
  if (source.is_directory) {
    const bool into_itself = std::string(to).starts_with(std::string(from) + "/");
    if (into_itself || target.inode != 0) {
      return Status(ErrorCode::kInvalidArgument, into_itself ? "a directory can't move into itself" : "the new name is taken");
    }
  }
  if (target.parent == 0 || (target.inode != 0 && target.is_directory)) {
    return Status(ErrorCode::kInvalidArgument, "the new name is a directory's");
  }
  if (target.inode != 0) {
    STRIA_RETURN_IF_ERROR(lose_name(target));
  }
  dirty_ = true;
  STRIA_RETURN_IF_ERROR(
      database_->run("DELETE FROM entries WHERE parent = ? AND name = ?", source.parent, std::string_view(source.name)));
  STRIA_RETURN_IF_ERROR(
      database_->run("INSERT INTO entries VALUES (?, ?, ?)", target.parent, std::string_view(target.name), source.inode));
  return target.inode == 0 ? std::optional<uint64_t>() : static_cast<uint64_t>(target.inode);
}

Result<std::optional<uint64_t>> Names::remove(std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(path, false));
  if (entry.inode == 0 || entry.parent == 0) {
    return not_found();
  }
  if (entry.is_directory) {
    STRIA_ASSIGN_OR_RETURN(const bool empty, is_empty(entry.inode));
    if (!empty) {
      return Status(ErrorCode::kInvalidArgument, "the directory is not empty");
    }
  }
  STRIA_RETURN_IF_ERROR(lose_name(entry));
  return entry.is_directory ? std::optional<uint64_t>() : static_cast<uint64_t>(entry.inode);
}

Result<wire::Listed> Names::list(std::string_view path, std::string_view after) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(path, false));
  if (entry.inode == 0 || !entry.is_directory) {
    return entry.inode == 0 ? not_found() : Status(ErrorCode::kInvalidArgument, "it is a file, not a directory");
  }
  wire::Listed listed;
  size_t bytes = 0;
  Query query = database_->query(
      "SELECT name, directory FROM entries JOIN inodes ON inode = id WHERE parent = ? AND name > ? ORDER BY name", entry.inode,
      after);
  while (query.next()) {
    listed.more = listed.entries.size() == wire::kMaxListed || bytes > wire::kMaxBodyBytes / 2;
    if (listed.more) {
      break;
    }
    listed.entries.push_back({query.text(0), query.number(1) != 0});
    bytes += listed.entries.back().name.size() + 4;
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return listed;
}

// A commit that is synced takes all earlier ones with it: the log is in order.
Status Names::sync() {
  if (!dirty_) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(database_->script("PRAGMA synchronous=FULL"));
  const Status outcome = database_->run("UPDATE meta SET value = value + 1 WHERE key = 'syncs'");
  STRIA_RETURN_IF_ERROR(database_->script("PRAGMA synchronous=NORMAL"));
  dirty_ = !outcome.ok();
  return outcome;
}

Result<std::vector<uint64_t>> Names::nameless() {
  std::vector<uint64_t> files;
  Query query = database_->query("SELECT id FROM inodes WHERE named = 0");
  while (query.next()) {
    files.push_back(static_cast<uint64_t>(query.number(0)));
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return files;
}

Status Names::bury(uint64_t file) {
  std::vector<int64_t> servers;
  {
    Query found = database_->query("SELECT servers FROM inodes WHERE id = ? AND named = 0", static_cast<int64_t>(file));
    if (found.next()) {
      servers = decode_servers(found.bytes(0));
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  for (const int64_t server : servers) {
    STRIA_RETURN_IF_ERROR(database_->run("INSERT OR IGNORE INTO dead VALUES (?, ?)", server, static_cast<int64_t>(file)));
  }
  return database_->run("DELETE FROM inodes WHERE id = ? AND named = 0", static_cast<int64_t>(file));
}

Result<std::vector<uint64_t>> Names::to_remove(int64_t server) {
  std::vector<uint64_t> files;
  Query query =
      database_->query("SELECT file FROM dead WHERE server = ? LIMIT ?", server, static_cast<int64_t>(wire::kMaxListed));
  while (query.next()) {
    files.push_back(static_cast<uint64_t>(query.number(0)));
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return files;
}

Status Names::removed(int64_t server, const std::vector<uint64_t>& files) {
  for (const uint64_t file : files) {
    STRIA_RETURN_IF_ERROR(database_->run("DELETE FROM dead WHERE server = ? AND file = ?", server, static_cast<int64_t>(file)));
  }
  return {};
}

Result<int64_t> Names::register_server(const wire::Identity& identity, const std::string& address) {
  int64_t index = -1;
  bool moved = false;
  {
    Query found = database_->query("SELECT id, address FROM servers WHERE identity = ?", std::span<const std::byte>(identity));
    if (found.next()) {
      index = found.number(0);
      moved = found.text(1) != address;
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  if (index < 0) {
    Query count = database_->query("SELECT count(*) FROM servers");
    index = count.next() ? count.number(0) : 0;
    STRIA_RETURN_IF_ERROR(count.status());
    if (index >= wire::kMaxSlots) {
      return Status(ErrorCode::kResourceExhausted, "the store has as many servers as it may");
    }
    dirty_ = true;
    STRIA_RETURN_IF_ERROR(database_->run("INSERT INTO servers VALUES (?, ?, ?)", index, std::span<const std::byte>(identity),
                                         std::string_view(address)));
    return index;
  }
  if (moved) {
    dirty_ = true;
    STRIA_RETURN_IF_ERROR(database_->run("UPDATE servers SET address = ? WHERE id = ?", std::string_view(address), index));
  }
  return index;
}

Result<std::vector<Names::Server>> Names::servers() {
  std::vector<Server> servers;
  Query query = database_->query("SELECT id, address FROM servers ORDER BY id");
  while (query.next()) {
    servers.push_back({query.number(0), query.text(1)});
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return servers;
}

Status Names::remember(const wire::Identity& session, uint64_t request, std::span<const std::byte> reply) {
  return database_->run("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", std::span<const std::byte>(session),
                        static_cast<int64_t>(request), reply, now_ns());
}

Result<std::optional<std::vector<std::byte>>> Names::recall(const wire::Identity& session, uint64_t request) {
  Query found = database_->query("SELECT reply FROM replies WHERE session = ? AND request = ?",
                                 std::span<const std::byte>(session), static_cast<int64_t>(request));
  std::optional<std::vector<std::byte>> reply;
  if (found.next()) {
    reply = found.bytes(0);
  }
  STRIA_RETURN_IF_ERROR(found.status());
  return reply;
}

Status Names::forget_old_sessions() {
  constexpr int64_t kHourNs = int64_t{3600} * 1000 * 1000 * 1000;
  return database_->run("DELETE FROM replies WHERE at_ns < ?", now_ns() - kHourNs);
}

}  // namespace stria::server
