#include "server/manager/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "server/manager/names_fields.hpp"
#include "wire/address.hpp"
#include "wire/frame.hpp"
#include "wire/key.hpp"

namespace stria::server {

namespace {

constexpr int64_t kRoot = 1;
constexpr int64_t kNsOfSecond = 1000000000;
constexpr int kStartShift = 31;  // so many bits count the files of one run, or of each second of it

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inodes (id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, named INTEGER NOT NULL,
  created_ns INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, mode INTEGER NOT NULL,
  stripe_bytes INTEGER NOT NULL, servers BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS entries (parent INTEGER NOT NULL, name BLOB NOT NULL, inode INTEGER NOT NULL,
  PRIMARY KEY (parent, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS servers (id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, address BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS dead (server INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (server, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (session BLOB PRIMARY KEY, request INTEGER NOT NULL, reply BLOB NOT NULL,
  at_ns INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('format', 2), ('starts', 0), ('syncs', 0);
)";

// The root's mode at first: everybody may make files, and only who made them may take them away.
constexpr uint32_t kRootMode = kSticky | 0777;
constexpr uint32_t kOwnDirectory = 0300;  // who makes a directory on the way to a file may use it

Status not_found() {
  return Status(ErrorCode::kNotFound, "No such file or directory");
}

/// Whether the name lies below the directory. Either may have slashes and dots that mean nothing.
Result<bool> is_below(std::string_view name, std::string_view directory) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, wire::split_path(name));
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> above, wire::split_path(directory));
  return parts.size() > above.size() && std::equal(above.begin(), above.end(), parts.begin());
}

/// The secret is in the file: nobody but the server's user may read it.
Status keep_from_others(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool done = descriptor >= 0 && fchmod(descriptor, 0600) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno, "open '" + path + "'");
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return outcome;
}

/// Three columns from the given one on.
wire::Ownership ownership(const Query& query, int column) {
  return {static_cast<uint32_t>(query.number(column)), static_cast<uint32_t>(query.number(column + 1)),
          static_cast<uint32_t>(query.number(column + 2))};
}

/// What a directory has beside what a file with these permissions has.
uint32_t directory_mode(uint32_t permissions) {
  return permissions | (permissions & 0444) >> 2 | kOwnDirectory;
}

}  // namespace

Result<std::unique_ptr<Names>> Names::open(const std::string& path) {
  Reserve reserve(path.substr(0, path.rfind('.')) + ".reserve");
  auto names = open_with(path, reserve);
  if (names.status().code() == ErrorCode::kNoSpace && reserve.give_up()) {
    names = open_with(path, reserve);
  }
  if (names.ok()) {
    (*names)->reserve().keep();
  }
  return names;
}

Result<std::unique_ptr<Names>> Names::open_with(const std::string& path, const Reserve& reserve) {
  STRIA_RETURN_IF_ERROR(keep_from_others(path));
  STRIA_ASSIGN_OR_RETURN(auto database, Database::open(path));
  auto names = std::make_unique<Names>(std::move(database), reserve);
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
  if (format != 2) {
    return Status(ErrorCode::kFormat, "written by another version of Stria");
  }
  STRIA_RETURN_IF_ERROR(database_->run("INSERT OR IGNORE INTO inodes VALUES (?, 1, 1, 0, ?, ?, ?, 0, x'')", kRoot,
                                       int64_t{geteuid()}, int64_t{getegid()}, int64_t{kRootMode}));
  STRIA_RETURN_IF_ERROR(prepare_secret());
  STRIA_RETURN_IF_ERROR(
      database_->run("UPDATE meta SET value = max(value + 1, ?) WHERE key = 'starts'", now_ns() / kNsOfSecond));
  {
    Query meta = database_->query("SELECT value FROM meta WHERE key = 'starts'");
    starts = meta.next() ? meta.number(0) : 0;
  }
  next_file_ = (starts << kStartShift) + 2;
  return unsynced_.sync();
}

Status Names::prepare_secret() {
  wire::StoreSecret fresh{};
  wire::randomise(fresh);
  STRIA_RETURN_IF_ERROR(database_->run("INSERT OR IGNORE INTO meta VALUES ('secret', ?)", std::span<const std::byte>(fresh)));
  Query kept = database_->query("SELECT value FROM meta WHERE key = 'secret'");
  const std::vector<std::byte> bytes = kept.next() ? kept.bytes(0) : std::vector<std::byte>();
  STRIA_RETURN_IF_ERROR(kept.status());
  if (bytes.size() != secret_.size()) {
    return Status(ErrorCode::kCorrupted, "the secret for tickets is damaged");
  }
  std::copy(bytes.begin(), bytes.end(), secret_.begin());
  return {};
}

Result<wire::Ownership> Names::owner_of(uint64_t file) {
  Query found = database_->query("SELECT uid, gid, mode FROM inodes WHERE id = ?", static_cast<int64_t>(file));
  if (!found.next()) {
    return found.status().ok() ? not_found() : found.status();
  }
  return ownership(found, 0);
}

Result<Names::Entry> Names::walk(const Caller& caller, std::string_view path, std::optional<uint32_t> permissions) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, wire::split_path(path));
  Entry at{.inode = kRoot, .is_directory = true};
  STRIA_ASSIGN_OR_RETURN(at.owner, owner_of(kRoot));
  for (const std::string& part : parts) {
    if (at.inode == 0 && permissions) {
      STRIA_RETURN_IF_ERROR(make(caller, at, {true, directory_mode(*permissions), {}, 0}));
    }
    if (at.inode == 0) {
      return not_found();
    }
    if (!at.is_directory) {
      return Status(ErrorCode::kNotFound, "'" + at.name + "' is a file, not a directory");
    }
    STRIA_RETURN_IF_ERROR(check_rights(caller, at.owner, wire::kMayEnter));
    at = {.parent = at.inode, .name = part, .above = at.owner};
    Query found = database_->query(
        "SELECT inode, directory, uid, gid, mode FROM entries JOIN inodes ON inode = id WHERE parent = ? AND name = ?",
        at.parent, std::string_view(at.name));
    if (found.next()) {
      at.inode = found.number(0);
      at.is_directory = found.number(1) != 0;
      at.owner = ownership(found, 2);
    }
    STRIA_RETURN_IF_ERROR(found.status());
  }
  return at;
}

Result<NamedFile> Names::find(const Caller& caller, std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, path));
  Query found = database_->query("SELECT directory, created_ns, stripe_bytes, servers FROM inodes WHERE id = ?", entry.inode);
  if (!found.next()) {
    return found.status().ok() ? not_found() : found.status();
  }
  return NamedFile{.file = static_cast<uint64_t>(entry.inode),
                   .is_directory = found.number(0) != 0,
                   .created_ns = found.number(1),
                   .owner = entry.owner,
                   .stripe_bytes = found.number(2),
                   .servers = decode_servers(found.bytes(3))};
}

Status Names::make(const Caller& caller, Entry& entry, const Make& what) {
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.above, wire::kMayWrite | wire::kMayEnter));
  const bool follows = (entry.above.mode & kGroupFollows) != 0;
  entry.owner = {caller.user.uid, follows ? entry.above.gid : caller.user.gid,
                 what.permissions | (follows && what.is_directory ? kGroupFollows : 0)};
  entry.is_directory = what.is_directory;
  entry.inode = what.number == 0 ? next_file_++ : what.number;
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(database_->run("INSERT INTO inodes VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)", entry.inode,
                                       int64_t{what.is_directory}, now_ns(), int64_t{entry.owner.uid}, int64_t{entry.owner.gid},
                                       int64_t{entry.owner.mode}, what.placement.stripe_bytes,
                                       std::span<const std::byte>(encode_servers(what.placement.servers))));
  return database_->run("INSERT INTO entries VALUES (?, ?, ?)", entry.parent, std::string_view(entry.name), entry.inode);
}

Result<NamedFile> Names::create(const Caller& caller, const wire::NewDirectory& what, const Placement& placement) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path, what.permissions));
  STRIA_RETURN_IF_ERROR(make(caller, entry, {false, what.permissions, placement, 0}));
  return NamedFile{.file = static_cast<uint64_t>(entry.inode),
                   .owner = entry.owner,
                   .stripe_bytes = placement.stripe_bytes,
                   .servers = placement.servers};
}

Status Names::make_directory(const Caller& caller, const wire::NewDirectory& what) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path, what.permissions));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  return make(caller, entry, {true, what.permissions, {}, 0});
}

Status Names::create_as(const Caller& caller, const wire::NewDirectory& what, const Placement& placement, uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  return make(caller, entry, {false, what.permissions, placement, static_cast<int64_t>(file)});
}

Status Names::set_ownership(const Caller& caller, const wire::SetOwnership& change) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, change.path));
  if (entry.inode == 0) {
    return not_found();
  }
  const wire::Ownership wanted{change.uid.value_or(entry.owner.uid), change.gid.value_or(entry.owner.gid),
                               change.mode.value_or(entry.owner.mode)};
  STRIA_ASSIGN_OR_RETURN(const wire::Ownership owner, change_ownership(caller, {entry.owner, wanted}));
  unsynced_.note();
  return database_->run("UPDATE inodes SET uid = ?, gid = ?, mode = ? WHERE id = ?", int64_t{owner.uid}, int64_t{owner.gid},
                        int64_t{owner.mode}, entry.inode);
}

Status Names::lose_name(const Entry& entry) {
  unsynced_.note();
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

Result<std::optional<uint64_t>> Names::rename(const Caller& caller, const wire::Rename& names) {
  STRIA_ASSIGN_OR_RETURN(const Entry source, walk(caller, names.from));
  if (source.inode == 0 || source.parent == 0) {
    return not_found();
  }
  STRIA_RETURN_IF_ERROR(check_removal(caller, source.above, source.owner));
  // Directories that are missing are made as the file's own permissions say.
  STRIA_ASSIGN_OR_RETURN(const Entry target, walk(caller, names.to, source.owner.mode & 0777));
  if (target.inode == source.inode) {
    return std::optional<uint64_t>();
  }
  if (source.is_directory) {
    STRIA_ASSIGN_OR_RETURN(const bool into_itself, is_below(names.to, names.from));
    if (into_itself) {
      return Status(ErrorCode::kInvalidArgument, "a directory can't move into itself");
    }
  }
  if (target.inode != 0 && source.is_directory != target.is_directory) {
    return Status(ErrorCode::kInvalidArgument,
                  target.is_directory ? "the new name is a directory's" : "the new name is a file's");
  }
  if (target.parent == 0) {
    return Status(ErrorCode::kInvalidArgument, "the new name is that of the store itself");
  }
  if (target.inode != 0) {
    STRIA_RETURN_IF_ERROR(check_removal(caller, target.above, target.owner));
    if (target.is_directory) {
      STRIA_ASSIGN_OR_RETURN(const bool empty, is_empty(target.inode));
      if (!empty) {
        return Status(ErrorCode::kInvalidArgument, "the directory of the new name is not empty");
      }
    }
    STRIA_RETURN_IF_ERROR(lose_name(target));
  } else {
    STRIA_RETURN_IF_ERROR(check_rights(caller, target.above, wire::kMayWrite | wire::kMayEnter));
  }
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(
      database_->run("DELETE FROM entries WHERE parent = ? AND name = ?", source.parent, std::string_view(source.name)));
  STRIA_RETURN_IF_ERROR(
      database_->run("INSERT INTO entries VALUES (?, ?, ?)", target.parent, std::string_view(target.name), source.inode));
  const bool loses_file = target.inode != 0 && !target.is_directory;
  return loses_file ? std::optional(static_cast<uint64_t>(target.inode)) : std::nullopt;
}

Result<std::optional<uint64_t>> Names::remove(const Caller& caller, std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, path));
  if (entry.inode == 0 || entry.parent == 0) {
    return not_found();
  }
  STRIA_RETURN_IF_ERROR(check_removal(caller, entry.above, entry.owner));
  if (entry.is_directory) {
    STRIA_ASSIGN_OR_RETURN(const bool empty, is_empty(entry.inode));
    if (!empty) {
      return Status(ErrorCode::kInvalidArgument, "the directory is not empty");
    }
  }
  STRIA_RETURN_IF_ERROR(lose_name(entry));
  return entry.is_directory ? std::optional<uint64_t>() : static_cast<uint64_t>(entry.inode);
}

Result<wire::Listed> Names::list(const Caller& caller, const wire::List& request) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, request.path));
  if (entry.inode == 0 || !entry.is_directory) {
    return entry.inode == 0 ? not_found() : Status(ErrorCode::kInvalidArgument, "it is a file, not a directory");
  }
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.owner, wire::kMayRead));
  wire::Listed listed;
  size_t bytes = 0;
  Query query = database_->query(
      "SELECT name, directory FROM entries JOIN inodes ON inode = id WHERE parent = ? AND name > ? ORDER BY name", entry.inode,
      std::string_view(request.after));
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

Result<std::vector<uint64_t>> Names::nameless() {
  std::vector<uint64_t> files;
  Query query = database_->query("SELECT id FROM inodes WHERE named = 0");
  while (query.next()) {
    files.push_back(static_cast<uint64_t>(query.number(0)));
  }
  STRIA_RETURN_IF_ERROR(query.status());
  return files;
}

}  // namespace stria::server
