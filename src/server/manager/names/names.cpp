#include "server/manager/names/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/shown_path.hpp"
#include "server/manager/database/names_fields.hpp"
#include "wire/address.hpp"
#include "wire/frame.hpp"
#include "wire/trust/key.hpp"

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

// What only some names have. `directory` of an inode is its wire::NameKind, and `named` counts its
// names. What belongs to an inode goes with it.
constexpr const char* kTreeSchema = R"(
CREATE TABLE IF NOT EXISTS times (id INTEGER PRIMARY KEY, accessed_ns INTEGER, modified_ns INTEGER,
  written_before_ns INTEGER, changed_ns INTEGER);
CREATE TABLE IF NOT EXISTS links (id INTEGER PRIMARY KEY, target BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS attributes (id INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (id, name)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS inode_gone AFTER DELETE ON inodes BEGIN
  DELETE FROM times WHERE id = old.id;
  DELETE FROM links WHERE id = old.id;
  DELETE FROM attributes WHERE id = old.id;
END;
)";
constexpr int64_t kFormat = 2;
constexpr int64_t kFormatWithLinks = 3;

// The root's mode at first: everybody may make files, and only who made them may take them away.
constexpr uint32_t kRootMode = kSticky | 0777;
constexpr uint32_t kOwnDirectory = 0300;  // who makes a directory on the way to a file may use it

Status not_found() {
  return Status(ErrorCode::kNotFound, "No such file or directory");
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

/// Reads three columns from the given one on.
wire::Ownership ownership(const Query& query, int column) {
  return {static_cast<uint32_t>(query.number(column)), static_cast<uint32_t>(query.number(column + 1)),
          static_cast<uint32_t>(query.number(column + 2))};
}

/// Returns what a directory has beside what a file with these permissions has.
uint32_t directory_mode(uint32_t permissions) {
  return permissions | (permissions & 0444) >> 2 | kOwnDirectory;
}

/// Returns the path up to its last name, with the slash.
std::string_view way_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

Result<bool> is_empty(Database& database, int64_t directory) {
  Query any = database.query("SELECT 1 FROM entries WHERE parent = ? LIMIT 1", directory);
  const bool empty = !any.next();
  STRIA_RETURN_IF_ERROR(any.status());
  return empty;
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
  STRIA_RETURN_IF_ERROR(database_->script(kTreeSchema));
  int64_t format = 0;
  int64_t starts = 0;
  {
    Query meta = database_->query("SELECT value FROM meta WHERE key = 'format'");
    format = meta.next() ? meta.number(0) : 0;
  }
  if (format != kFormat && format != kFormatWithLinks) {
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
  if (bytes.size() != seals_.store.size()) {
    return Status(ErrorCode::kCorrupted, "the secret for tickets is damaged");
  }
  std::copy(bytes.begin(), bytes.end(), seals_.store.begin());
  Query epoch = database_->query("SELECT value FROM meta WHERE key = 'epoch'");
  seals_.epoch = epoch.next() ? static_cast<uint64_t>(epoch.number(0)) : 0;
  seals_.tickets = wire::ticket_secret(seals_.store, seals_.epoch);
  return epoch.status();
}

Result<wire::Ownership> Names::owner_of(uint64_t file) {
  Query found = database_->query("SELECT uid, gid, mode FROM inodes WHERE id = ?", static_cast<int64_t>(file));
  if (!found.next()) {
    return found.status().ok() ? not_found() : found.status();
  }
  return ownership(found, 0);
}

Status Names::enter(const Caller& caller, Entry& entry, const Walk& how) {
  if (entry.inode == 0 && how.permissions) {
    STRIA_RETURN_IF_ERROR(make(caller, entry, {wire::NameKind::kDirectory, directory_mode(*how.permissions)}));
  }
  if (entry.inode == 0) {
    return not_found();
  }
  if (!entry.is_directory) {
    return Status(ErrorCode::kNotFound, "'" + entry.name + "' is a file, not a directory");
  }
  return check_rights(caller, entry.owner, wire::kMayEnter);
}

Result<Names::Entry> Names::look_in(const Entry& directory, const std::string& name) {
  Entry entry{.parent = directory.inode, .name = name, .above = directory.owner, .path = directory.path + "/" + name};
  Query found = database_->query(
      "SELECT inode, directory, named, uid, gid, mode FROM entries JOIN inodes ON inode = id WHERE parent = ? AND name = ?",
      entry.parent, std::string_view(entry.name));
  if (found.next()) {
    entry.inode = found.number(0);
    const auto kind = static_cast<wire::NameKind>(found.number(1));
    entry.is_directory = kind == wire::NameKind::kDirectory;
    entry.is_link = kind == wire::NameKind::kLink;
    entry.names = found.number(2);
    entry.owner = ownership(found, 3);
  }
  STRIA_RETURN_IF_ERROR(found.status());
  return entry;
}

// A path of a machine means nothing to the manager, and another thing on each machine.
Status Names::follow(const Entry& link, std::deque<std::string>& rest) {
  std::string target;
  {
    Query found = database_->query("SELECT target FROM links WHERE id = ?", link.inode);
    target = found.next() ? found.text(0) : "";
    STRIA_RETURN_IF_ERROR(found.status());
  }
  if (target.starts_with('/')) {
    return Status(ErrorCode::kUnsupported, "'" + shown_path(link.path) + "' is a symbolic link to '" + shown_path(target) +
                                               "', a path of a machine: a store follows only links that are relative");
  }
  std::vector<std::string> parts;
  for (size_t at = 0; at < target.size();) {
    const size_t end = std::min(target.find('/', at), target.size());
    if (const std::string part = target.substr(at, end - at); !part.empty() && part != ".") {
      parts.push_back(part);
    }
    at = end + 1;
  }
  rest.insert(rest.begin(), parts.begin(), parts.end());
  return {};
}

std::vector<Names::Entry> Names::Way::to(std::string_view name) const {
  return way_of(name) == path ? directories : std::vector<Entry>();
}

// Programs make, look at and remove many names of one directory. What the way looked like is known
// until a directory changes its name or its owner, or goes.
Result<Names::Entry> Names::walk(const Caller& caller, std::string_view path, const Walk& how) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, wire::split_path(path));
  std::deque<std::string> rest(parts.begin(), parts.end());
  const std::string_view name = path.substr(way_of(path).size());
  bool is_plain = !parts.empty() && name == parts.back();
  std::vector<Entry> above;  // the directories on the way to `at`
  if (is_plain || name.empty()) {
    above = way_.to(path);
  }
  if (above.empty()) {
    Entry& root = above.emplace_back(Entry{.inode = kRoot, .is_directory = true, .names = 1});
    STRIA_ASSIGN_OR_RETURN(root.owner, owner_of(kRoot));
  } else {
    rest.erase(rest.begin(), rest.end() - (is_plain ? 1 : 0));
  }
  for (size_t i = 0; i + 1 < above.size(); ++i) {
    STRIA_RETURN_IF_ERROR(enter(caller, above[i], how));
  }
  Entry at = std::move(above.back());
  above.pop_back();
  for (int links = 0; !rest.empty();) {
    const std::string part = std::move(rest.front());
    rest.pop_front();
    STRIA_RETURN_IF_ERROR(enter(caller, at, how));
    if (part == "..") {
      is_plain = false;
      if (above.empty()) {
        return Status(ErrorCode::kUnsupported, "a symbolic link leads out of the store");
      }
      at = std::move(above.back());
      above.pop_back();
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(Entry next, look_in(at, part));
    if (next.is_link && (how.follow || !rest.empty())) {
      is_plain = false;
      if (++links > wire::kMaxLinks) {
        return Status(ErrorCode::kInvalidArgument, "'" + shown_path(next.path) + "': too many levels of symbolic links");
      }
      STRIA_RETURN_IF_ERROR(follow(next, rest));
      continue;
    }
    above.push_back(std::move(at));
    at = std::move(next);
  }
  // A transaction may have directories that are undone.
  if (is_plain && !database_->in_transaction()) {
    way_ = {std::string(way_of(path)), std::move(above)};
  }
  return at;
}

Result<NamedFile> Names::find(const Caller& caller, std::string_view path, bool follow) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, path, {.follow = follow}));
  if (entry.inode == 0) {
    return not_found();
  }
  Query found = database_->query("SELECT created_ns, stripe_bytes, servers FROM inodes WHERE id = ?", entry.inode);
  if (!found.next()) {
    return found.status().ok() ? not_found() : found.status();
  }
  return NamedFile{.file = static_cast<uint64_t>(entry.inode),
                   .is_directory = entry.is_directory,
                   .is_link = entry.is_link,
                   .created_ns = found.number(0),
                   .owner = entry.owner,
                   .stripe_bytes = found.number(1),
                   .servers = decode_servers(found.bytes(2))};
}

Status Names::make(const Caller& caller, Entry& entry, const Make& what) {
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.above, wire::kMayWrite | wire::kMayEnter));
  const bool follows = (entry.above.mode & kGroupFollows) != 0;
  entry.owner = {caller.user.uid, follows ? entry.above.gid : caller.user.gid,
                 what.permissions | (follows && what.kind == wire::NameKind::kDirectory ? kGroupFollows : 0)};
  entry.is_directory = what.kind == wire::NameKind::kDirectory;
  entry.is_link = what.kind == wire::NameKind::kLink;
  entry.names = 1;
  entry.inode = what.number == 0 ? next_file_++ : what.number;
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(database_->run("INSERT INTO inodes VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)", entry.inode,
                                       static_cast<int64_t>(what.kind), now_ns(), int64_t{entry.owner.uid},
                                       int64_t{entry.owner.gid}, int64_t{entry.owner.mode}, what.placement.stripe_bytes,
                                       std::span<const std::byte>(encode_servers(what.placement.servers))));
  STRIA_RETURN_IF_ERROR(
      database_->run("INSERT INTO entries VALUES (?, ?, ?)", entry.parent, std::string_view(entry.name), entry.inode));
  return touch_directory(*database_, entry.parent);
}

Status touch_directory(Database& database, int64_t directory) {
  const int64_t now = now_ns();
  return database.run(
      "INSERT INTO times VALUES (?, NULL, ?, 0, ?) ON CONFLICT (id) DO UPDATE SET modified_ns = excluded.modified_ns, "
      "written_before_ns = 0, changed_ns = excluded.changed_ns",
      directory, now, now);
}

Status touch(Database& database, int64_t inode) {
  return database.run(
      "INSERT INTO times VALUES (?, NULL, NULL, NULL, ?) ON CONFLICT (id) DO UPDATE SET changed_ns = excluded.changed_ns",
      inode, now_ns());
}

Status keep_for_links(Database& database) {
  return database.run("UPDATE meta SET value = ? WHERE key = 'format' AND value < ?", kFormatWithLinks, kFormatWithLinks);
}

Result<NamedFile> Names::create(const Caller& caller, const wire::NewDirectory& what, const Placement& placement) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path, {.permissions = what.permissions}));
  STRIA_RETURN_IF_ERROR(make(caller, entry, {wire::NameKind::kFile, what.permissions, placement, 0}));
  return NamedFile{.file = static_cast<uint64_t>(entry.inode),
                   .owner = entry.owner,
                   .stripe_bytes = placement.stripe_bytes,
                   .servers = placement.servers};
}

Status Names::make_directory(const Caller& caller, const wire::NewDirectory& what) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path, {.follow = false, .permissions = what.permissions}));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  return make(caller, entry, {wire::NameKind::kDirectory, what.permissions});
}

Status Names::create_as(const Caller& caller, const wire::NewDirectory& what, const Placement& placement, uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(Entry entry, walk(caller, what.path, {.follow = false}));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  return make(caller, entry, {wire::NameKind::kFile, what.permissions, placement, static_cast<int64_t>(file)});
}

Status Names::set_ownership(const Caller& caller, const wire::SetOwnership& change) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, change.path, {}));
  if (entry.inode == 0) {
    return not_found();
  }
  const wire::Ownership wanted{change.uid.value_or(entry.owner.uid), change.gid.value_or(entry.owner.gid),
                               change.mode.value_or(entry.owner.mode)};
  return set_ownership_of(caller, entry, wanted);
}

Status Names::set_ownership_of(const Caller& caller, const Entry& entry, const wire::Ownership& wanted) {
  STRIA_ASSIGN_OR_RETURN(const wire::Ownership owner, change_ownership(caller, {entry.owner, wanted}));
  way_ = {};
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(database_->run("UPDATE inodes SET uid = ?, gid = ?, mode = ? WHERE id = ?", int64_t{owner.uid},
                                       int64_t{owner.gid}, int64_t{owner.mode}, entry.inode));
  return touch(*database_, entry.inode);
}

Result<bool> Names::lose_name(const Entry& entry) {
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(
      database_->run("DELETE FROM entries WHERE parent = ? AND name = ?", entry.parent, std::string_view(entry.name)));
  STRIA_RETURN_IF_ERROR(touch_directory(*database_, entry.parent));
  if (entry.is_directory || entry.is_link) {
    way_ = {};
    STRIA_RETURN_IF_ERROR(database_->run("DELETE FROM inodes WHERE id = ?", entry.inode));
    return false;
  }
  STRIA_RETURN_IF_ERROR(database_->run("UPDATE inodes SET named = named - 1 WHERE id = ?", entry.inode));
  if (entry.names > 1) {
    STRIA_RETURN_IF_ERROR(touch(*database_, entry.inode));
  }
  return entry.names <= 1;
}

Result<std::optional<uint64_t>> Names::rename(const Caller& caller, const wire::Rename& names) {
  STRIA_ASSIGN_OR_RETURN(const Entry source, walk(caller, names.from, {.follow = false}));
  if (source.inode == 0 || source.parent == 0) {
    return not_found();
  }
  STRIA_RETURN_IF_ERROR(check_removal(caller, source.above, source.owner));
  // Directories that are missing are made as the file's own permissions say.
  STRIA_ASSIGN_OR_RETURN(const Entry target,
                         walk(caller, names.to, {.follow = false, .permissions = source.owner.mode & 0777}));
  if (target.inode == source.inode) {
    return std::optional<uint64_t>();
  }
  if (source.is_directory) {
    if (target.path.starts_with(source.path + "/")) {
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
  if (source.is_directory) {
    way_ = {};
  }
  bool loses_file = false;
  if (target.inode != 0) {
    STRIA_RETURN_IF_ERROR(check_removal(caller, target.above, target.owner));
    if (target.is_directory) {
      STRIA_ASSIGN_OR_RETURN(const bool empty, is_empty(*database_, target.inode));
      if (!empty) {
        return Status(ErrorCode::kInvalidArgument, "the directory of the new name is not empty");
      }
    }
    STRIA_ASSIGN_OR_RETURN(loses_file, lose_name(target));
  } else {
    STRIA_RETURN_IF_ERROR(check_rights(caller, target.above, wire::kMayWrite | wire::kMayEnter));
  }
  unsynced_.note();
  STRIA_RETURN_IF_ERROR(
      database_->run("DELETE FROM entries WHERE parent = ? AND name = ?", source.parent, std::string_view(source.name)));
  STRIA_RETURN_IF_ERROR(
      database_->run("INSERT INTO entries VALUES (?, ?, ?)", target.parent, std::string_view(target.name), source.inode));
  for (const int64_t directory : {source.parent, target.parent}) {
    STRIA_RETURN_IF_ERROR(touch_directory(*database_, directory));
  }
  STRIA_RETURN_IF_ERROR(touch(*database_, source.inode));
  return loses_file ? std::optional(static_cast<uint64_t>(target.inode)) : std::nullopt;
}

Result<std::optional<uint64_t>> Names::remove(const Caller& caller, std::string_view path) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, path, {.follow = false}));
  if (entry.inode == 0 || entry.parent == 0) {
    return not_found();
  }
  STRIA_RETURN_IF_ERROR(check_removal(caller, entry.above, entry.owner));
  if (entry.is_directory) {
    STRIA_ASSIGN_OR_RETURN(const bool empty, is_empty(*database_, entry.inode));
    if (!empty) {
      return Status(ErrorCode::kInvalidArgument, "the directory is not empty");
    }
  }
  STRIA_ASSIGN_OR_RETURN(const bool loses_file, lose_name(entry));
  return loses_file ? std::optional(static_cast<uint64_t>(entry.inode)) : std::nullopt;
}

Result<wire::Listed> Names::list(const Caller& caller, const wire::List& request) {
  STRIA_ASSIGN_OR_RETURN(const Entry entry, walk(caller, request.path, {}));
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
    listed.entries.push_back({query.text(0), static_cast<wire::NameKind>(query.number(1)) == wire::NameKind::kDirectory});
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
