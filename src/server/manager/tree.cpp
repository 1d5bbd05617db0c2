#include "server/manager/tree.hpp"

#include <set>
#include <utility>

#include "server/manager/database/names_fields.hpp"

namespace stria::server {

namespace {

constexpr uint32_t kLinkMode = 0777;  // the system looks at what a link points to
constexpr size_t kMostBytesOfState = 160;
constexpr size_t kMostBytesOfSlot = 2;

// What state_in() reads.
#define STRIA_STATE_COLUMNS                                                                                    \
  "inodes.id, directory, named, created_ns, uid, gid, mode, stripe_bytes, servers, accessed_ns, modified_ns, " \
  "written_before_ns, changed_ns, target"
#define STRIA_STATE_TABLES "LEFT JOIN times ON times.id = inodes.id LEFT JOIN links ON links.id = inodes.id"

Status nothing_there() {
  return Status(ErrorCode::kNotFound, "No such file or directory");
}

std::optional<int64_t> time_in(const Query& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
}

template <typename Message>
Result<std::vector<std::byte>> encoded(const Result<Message>& result) {
  return result.ok() ? Result<std::vector<std::byte>>(wire::encode(*result)) : result.status();
}

Result<std::vector<std::byte>> encoded(const Status& status) {
  return status.ok() ? Result<std::vector<std::byte>>(std::vector<std::byte>()) : status;
}

/// Decodes the body and answers it.
template <typename Message, typename Answer>
Result<std::vector<std::byte>> with(std::span<const std::byte> body, Answer answer) {
  const auto message = wire::decode<Message>(body);
  return message.ok() ? encoded(answer(*message)) : message.status();
}

bool sets_a_time(const wire::Change& change) {
  return change.accessed.how != wire::TimeChange::How::kStays || change.modified.how != wire::TimeChange::How::kStays;
}

int64_t time_of(const wire::TimeChange& change) {
  return change.how == wire::TimeChange::How::kGiven ? change.ns : now_ns();
}

/// An owner may set any time, and who may write may set both to now, as a write would.
Status check_times(const Caller& caller, const wire::Change& change, const wire::Ownership& owner) {
  const bool only_now =
      change.accessed.how == wire::TimeChange::How::kNow && change.modified.how == wire::TimeChange::How::kNow;
  if (owns(caller, owner)) {
    return {};
  }
  return only_now ? check_rights(caller, owner, wire::kMayWrite)
                  : Status(ErrorCode::kPermissionDenied, "Permission denied: only its owner sets its times");
}

}  // namespace

Result<std::vector<std::byte>> Tree::answer(const Caller& caller, wire::Kind kind, std::span<const std::byte> body) {
  using wire::Kind;
  switch (kind) {
    case Kind::kLook:
      return with<wire::Look>(body, [&](const wire::Look& request) { return look(caller, request); });
    case Kind::kLookAll:
      return with<wire::List>(body, [&](const wire::List& request) { return look_all(caller, request); });
    case Kind::kResolve:
      return with<wire::Path>(body, [&](const wire::Path& request) { return resolve(caller, request); });
    case Kind::kChange:
      return with<wire::Change>(body, [&](const wire::Change& request) { return change(caller, request); });
    case Kind::kMakeLink:
      return with<wire::NewLink>(body, [&](const wire::NewLink& request) { return make_link(caller, request); });
    case Kind::kLinkName:
      return with<wire::NewLink>(body, [&](const wire::NewLink& request) { return link_name(caller, request); });
    case Kind::kSetAttribute:
      return with<wire::SetAttribute>(body, [&](const wire::SetAttribute& request) { return set_attribute(caller, request); });
    case Kind::kGetAttribute:
      return with<wire::GetAttribute>(body, [&](const wire::GetAttribute& request) { return get_attribute(caller, request); });
    default:
      return Status(ErrorCode::kUnsupported, "this server doesn't know that request");
  }
}

Result<Names::Entry> Tree::find(const Caller& caller, const wire::Look& what) {
  STRIA_ASSIGN_OR_RETURN(Names::Entry entry, names_.walk(caller, what.path, {.follow = what.follow}));
  return entry.inode == 0 ? nothing_there() : Result<Names::Entry>(std::move(entry));
}

wire::NameState Tree::state_in(const Query& row) const {
  wire::NameState state;
  state.number = static_cast<uint64_t>(row.number(0));
  state.kind = static_cast<wire::NameKind>(row.number(1));
  state.names = static_cast<uint64_t>(row.number(2));
  state.times.created_ns = row.number(3);
  state.owner = {static_cast<uint32_t>(row.number(4)), static_cast<uint32_t>(row.number(5)),
                 static_cast<uint32_t>(row.number(6))};
  state.stripe_bytes = row.number(7);
  state.servers = decode_servers(row.bytes(8));
  state.times.accessed_ns = time_in(row, 9);
  state.times.modified_ns = time_in(row, 10);
  state.times.written_before_ns = row.number(11);
  state.times.changed_ns = row.number(12);
  state.target = row.text(13);
  if (state.kind == wire::NameKind::kFile) {
    state.ticket = seal_(state.number);
  }
  return state;
}

Result<std::vector<wire::ServerPlace>> Tree::places_of(std::span<const int64_t> servers) const {
  std::vector<wire::ServerPlace> places;
  STRIA_RETURN_IF_ERROR(fleet_.describe(servers, places));
  return places;
}

Result<wire::NameState> Tree::state_of(int64_t inode) {
  Query row =
      names_.database().query("SELECT " STRIA_STATE_COLUMNS " FROM inodes " STRIA_STATE_TABLES " WHERE inodes.id = ?", inode);
  if (!row.next()) {
    return row.status().ok() ? nothing_there() : row.status();
  }
  return state_in(row);
}

Result<wire::Made> Tree::made(const Caller& caller, std::string_view path, wire::Opened opened) {
  const std::string directory(path.substr(0, path.rfind('/') + 1));
  STRIA_ASSIGN_OR_RETURN(const Names::Entry above, find(caller, {directory, true}));
  wire::Made made;
  STRIA_ASSIGN_OR_RETURN(made.file, state_of(static_cast<int64_t>(opened.file)));
  STRIA_ASSIGN_OR_RETURN(made.directory, state_of(above.inode));
  made.opened = std::move(opened);
  return made;
}

Result<wire::Looked> Tree::look(const Caller& caller, const wire::Look& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, find(caller, request));
  wire::Looked looked;
  STRIA_ASSIGN_OR_RETURN(looked.state, state_of(entry.inode));
  STRIA_ASSIGN_OR_RETURN(looked.places, places_of(looked.state.servers));
  return looked;
}

Result<wire::LookedAll> Tree::look_all(const Caller& caller, const wire::List& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry directory, find(caller, {request.path, true}));
  if (!directory.is_directory) {
    return Status(ErrorCode::kInvalidArgument, "it is a file, not a directory");
  }
  STRIA_RETURN_IF_ERROR(check_rights(caller, directory.owner, wire::kMayRead | wire::kMayEnter));
  wire::LookedAll looked;
  std::set<int64_t> servers;
  size_t bytes = 0;
  Query row = names_.database().query("SELECT " STRIA_STATE_COLUMNS
                                      ", name FROM entries JOIN inodes ON inode = inodes.id " STRIA_STATE_TABLES
                                      " WHERE parent = ? AND name > ? ORDER BY name",
                                      directory.inode, std::string_view(request.after));
  while (row.next()) {
    looked.more = looked.entries.size() == wire::kMaxListed || bytes > wire::kMaxBodyBytes / 2;
    if (looked.more) {
      break;
    }
    looked.entries.push_back({row.text(14), state_in(row)});
    const wire::LookedAll::Entry& entry = looked.entries.back();
    for (const int64_t place : entry.state.servers) {
      servers.insert(wire::server_of(place));
    }
    bytes += kMostBytesOfState + entry.name.size() + entry.state.target.size() + entry.state.servers.size() * kMostBytesOfSlot;
  }
  STRIA_RETURN_IF_ERROR(row.status());
  STRIA_ASSIGN_OR_RETURN(looked.places, places_of(std::vector<int64_t>(servers.begin(), servers.end())));
  return looked;
}

// The name itself need not be there.
Result<wire::Path> Tree::resolve(const Caller& caller, const wire::Path& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, names_.walk(caller, request.path, {}));
  return wire::Path{entry.path.empty() ? "/" : entry.path};
}

Status Tree::change(const Caller& caller, const wire::Change& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, find(caller, request.what));
  if (sets_a_time(request)) {
    STRIA_RETURN_IF_ERROR(check_times(caller, request, entry.owner));
    names_.unsynced().note();
    STRIA_RETURN_IF_ERROR(change_times(request, entry.inode));
  }
  if (!request.uid && !request.gid && !request.mode) {
    return touch(names_.database(), entry.inode);
  }
  const wire::Ownership wanted{request.uid.value_or(entry.owner.uid), request.gid.value_or(entry.owner.gid),
                               request.mode.value_or(entry.owner.mode)};
  return names_.set_ownership_of(caller, entry, wanted);
}

Status Tree::change_times(const wire::Change& request, int64_t inode) {
  if (request.accessed.how != wire::TimeChange::How::kStays) {
    STRIA_RETURN_IF_ERROR(names_.database().run(
        "INSERT INTO times VALUES (?, ?, NULL, NULL, 0) ON CONFLICT (id) DO UPDATE SET accessed_ns = excluded.accessed_ns",
        inode, time_of(request.accessed)));
  }
  if (request.modified.how == wire::TimeChange::How::kStays) {
    return {};
  }
  return names_.database().run(
      "INSERT INTO times VALUES (?, NULL, ?, ?, 0) ON CONFLICT (id) DO UPDATE SET modified_ns = excluded.modified_ns, "
      "written_before_ns = excluded.written_before_ns",
      inode, time_of(request.modified), request.written_ns);
}

Status Tree::make_link(const Caller& caller, const wire::NewLink& request) {
  if (request.target.empty() || request.target.find('\0') != std::string::npos) {
    return Status(ErrorCode::kInvalidArgument, "a symbolic link needs a target");
  }
  STRIA_ASSIGN_OR_RETURN(Names::Entry entry, names_.walk(caller, request.path, {.follow = false}));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  STRIA_RETURN_IF_ERROR(names_.make(caller, entry, {wire::NameKind::kLink, kLinkMode}));
  STRIA_RETURN_IF_ERROR(keep_for_links(names_.database()));
  return names_.database().run("INSERT INTO links VALUES (?, ?)", entry.inode, std::string_view(request.target));
}

Status Tree::link_name(const Caller& caller, const wire::NewLink& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry file, find(caller, {request.target, false}));
  if (file.is_directory || file.is_link) {
    return Status(ErrorCode::kPermissionDenied, "only a file has several names, no directory and no symbolic link");
  }
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, names_.walk(caller, request.path, {.follow = false}));
  if (entry.inode != 0) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.above, wire::kMayWrite | wire::kMayEnter));
  names_.unsynced().note();
  STRIA_RETURN_IF_ERROR(keep_for_links(names_.database()));
  STRIA_RETURN_IF_ERROR(
      names_.database().run("INSERT INTO entries VALUES (?, ?, ?)", entry.parent, std::string_view(entry.name), file.inode));
  STRIA_RETURN_IF_ERROR(names_.database().run("UPDATE inodes SET named = named + 1 WHERE id = ?", file.inode));
  STRIA_RETURN_IF_ERROR(touch(names_.database(), file.inode));
  return touch_directory(names_.database(), entry.parent);
}

Status Tree::set_attribute(const Caller& caller, const wire::SetAttribute& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, find(caller, request.what));
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.owner, wire::kMayWrite));
  if (request.name.empty()) {
    return Status(ErrorCode::kInvalidArgument, "an attribute needs a name");
  }
  names_.unsynced().note();
  if (request.how == wire::SetAttribute::How::kRemove) {
    STRIA_RETURN_IF_ERROR(
        names_.database().run("DELETE FROM attributes WHERE id = ? AND name = ?", entry.inode, std::string_view(request.name)));
    STRIA_RETURN_IF_ERROR(names_.database().changes() > 0 ? Status()
                                                          : Status(ErrorCode::kNotFound, "it has no such attribute"));
  } else {
    STRIA_RETURN_IF_ERROR(put_attribute(request, entry.inode));
  }
  return touch(names_.database(), entry.inode);
}

Status Tree::put_attribute(const wire::SetAttribute& request, int64_t inode) {
  using How = wire::SetAttribute::How;
  bool exists = false;
  size_t others_bytes = 0;
  {
    Query each = names_.database().query("SELECT name, length(value) FROM attributes WHERE id = ?", inode);
    while (each.next()) {
      const std::string name = each.text(0);
      const bool is_it = name == request.name;
      exists = exists || is_it;
      others_bytes += is_it ? 0 : name.size() + static_cast<size_t>(each.number(1));
    }
    STRIA_RETURN_IF_ERROR(each.status());
  }
  if (request.how != How::kAny && exists != (request.how == How::kReplace)) {
    return exists ? Status(ErrorCode::kAlreadyExists, "it has the attribute already")
                  : Status(ErrorCode::kNotFound, "it has no such attribute");
  }
  if (others_bytes + request.name.size() + request.value.size() > wire::kMaxAttributeBytes) {
    return Status(ErrorCode::kNoSpace, "the attributes of a file take at most 64 KiB together");
  }
  return names_.database().run("INSERT OR REPLACE INTO attributes VALUES (?, ?, ?)", inode, std::string_view(request.name),
                               std::string_view(request.value));
}

Result<wire::UserAttributes> Tree::get_attribute(const Caller& caller, const wire::GetAttribute& request) {
  STRIA_ASSIGN_OR_RETURN(const Names::Entry entry, find(caller, request.what));
  STRIA_RETURN_IF_ERROR(check_rights(caller, entry.owner, wire::kMayRead));
  wire::UserAttributes found;
  Query each = names_.database().query("SELECT name, value FROM attributes WHERE id = ?", entry.inode);
  while (each.next()) {
    const std::string name = each.text(0);
    if (request.name.empty()) {
      found.entries.push_back({name, ""});
    } else if (name == request.name) {
      found.entries.push_back({name, each.text(1)});
    }
  }
  STRIA_RETURN_IF_ERROR(each.status());
  return found;
}

}  // namespace stria::server
