// The calls of a mounted store on names.
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "storage/striped/file_states.hpp"
#include "store/mounted_calls.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr std::chrono::milliseconds kShortPatience{2000};
constexpr int64_t kNsOfSecond = 1000000000;
constexpr int64_t kBlockOfStat = 512;

timespec time_of(int64_t ns) {
  const int64_t second = ns / kNsOfSecond - (ns % kNsOfSecond < 0 ? 1 : 0);
  return {static_cast<time_t>(second), static_cast<long>(ns - second * kNsOfSecond)};
}

mode_t type_of(wire::NameKind kind) {
  return kind == wire::NameKind::kDirectory ? S_IFDIR : kind == wire::NameKind::kLink ? S_IFLNK : S_IFREG;
}

std::vector<std::byte> ask(wire::Kind kind, std::vector<std::byte> body) {
  return mounted().store->ask_manager(kind, std::move(body)).value();
}

wire::Looked look_at(const char* path) {
  return storage::look(*mounted().store, name_of(path)).value();
}

/// Throws stria::Error where a server doesn't answer.
storage::FileState surely_known(const wire::Looked& looked) {
  if (looked.state.kind != wire::NameKind::kFile) {
    return {};
  }
  const wire::Opened place = wire::place_of(looked.state, looked.places);
  storage::StatesAsker asker;
  storage::FileState state = states_of_files(mounted().store, {&place, 1}, asker).front();
  state.trouble.throw_if_error();
  return state;
}

/// The kernel looks a name up before it does anything else with it.
bool has_long_name(std::string_view path) {
  return path.size() - (path.rfind('/') + 1) > wire::kMaxNameBytes;
}

/// A name can be looked up while a server is away, so that it can be removed. A file that is open
/// has no doubtful size, nor has any where the kernel would believe it for good.
storage::FileState of_servers(const wire::Looked& looked) {
  if (looked.state.kind != wire::NameKind::kFile) {
    return {};
  }
  if (mounted().alone) {
    return surely_known(looked);
  }
  const wire::Opened place = wire::place_of(looked.state, looked.places);
  storage::FileState state = states_as_known({&place, 1}).front();
  if (!state.trouble.ok()) {
    mounted().doubtful.note(looked.state.number);
  }
  return state.trouble.ok() || !mounted().open_files.has(looked.state.number) ? state : surely_known(looked);
}

int get_attributes(const char* path, struct stat* details, fuse_file_info* info) {
  if (has_long_name(path)) {
    return -ENAMETOOLONG;
  }
  const bool is_new = info != nullptr && is_asked_for_the_first_time(info);
  if (info != nullptr && has_kept_attributes(info, details)) {
    return 0;
  }
  if (is_new && told_when_made(info)) {
    const ToldState& told = *told_when_made(info);
    *details = described(told.state, {});
    mounted().files.note_attributes(told.state.number, told.before, details);
    return 0;
  }
  if (const auto told = mounted().directories.find(path); info == nullptr && told) {
    *details = *told;
    return 0;
  }
  return answer([&] {
    const MountedFiles::Changes before = mounted().files.changes();
    const auto looked = storage::look(*mounted().store, name_of(path));
    if (!looked.ok()) {  // before each new file: to throw costs as much as some calls of the system
      return minus_errno(looked.status());
    }
    const uint64_t number = looked->state.number;
    if (const auto told = is_new ? std::nullopt : mounted().files.told_state(number)) {
      *details = described(looked->state, *told);
      mounted().files.note_mode(number, before, details->st_mode);
      return 0;
    }
    const storage::FileState state = is_new ? storage::FileState() : of_servers(*looked);
    *details = described(looked->state, state);
    if (looked->state.kind == wire::NameKind::kFile) {
      mounted().files.note_attributes(number, before, details);
      mounted().files.note_state(number, before, state);
    }
    return 0;
  });
}

/// Returns `outcome` of a call that may have changed what open files' attributes are.
int after_change(int outcome) {
  mounted().files.forget_attributes();
  mounted().directories.forget();
  return outcome;
}

int remove_file(const char* path) {
  return after_change(answer([&] { return minus_errno(mounted().driver.remove(url_of(path))); }));
}

int make_directory(const char* path, mode_t mode) {
  return after_change(answer([&] {
    const wire::NewDirectory request{name_of(path).path, static_cast<uint32_t>(mode & wire::kMaxMode)};
    ask(wire::Kind::kMakeDirectory, wire::encode(request));
    give_to_maker(path);
    return 0;
  }));
}

/// The store refuses to remove a full directory too, but its errors have no such number.
int remove_directory(const char* path) {
  return after_change(answer([&] {
    const Status removed = mounted().driver.remove(url_of(path));
    const bool is_full = removed.code() == ErrorCode::kInvalidArgument && !entries_of(url_of(path)).empty();
    return is_full ? -ENOTEMPTY : minus_errno(removed);
  }));
}

/// Why what `to` names can't be replaced by `from`; 0 where that isn't the reason.
int obstacle_to_replace(const char* from, const char* to) {
  const auto target = storage::look(*mounted().store, name_of(to));
  if (!target.ok()) {
    return 0;
  }
  if (look_at(from).state.is_directory() != target->state.is_directory()) {
    return target->state.is_directory() ? EISDIR : ENOTDIR;
  }
  return target->state.is_directory() && !entries_of(url_of(to)).empty() ? ENOTEMPTY : 0;
}

int rename(const char* from, const char* to, unsigned flags) {
  return after_change(answer([&] {
    if ((flags & RENAME_EXCHANGE) != 0) {
      return -EINVAL;
    }
    if ((flags & RENAME_NOREPLACE) != 0 && storage::look(*mounted().store, name_of(to)).ok()) {
      return -EEXIST;
    }
    const Status renamed = mounted().driver.rename(url_of(from), url_of(to));
    const int obstacle = renamed.code() == ErrorCode::kInvalidArgument ? obstacle_to_replace(from, to) : 0;
    return obstacle != 0 ? -obstacle : minus_errno(renamed);
  }));
}

int make_link(const char* target, const char* path) {
  return after_change(answer([&] {
    ask(wire::Kind::kMakeLink, wire::encode(wire::NewLink{name_of(path).path, target}));
    give_to_maker(path);
    return 0;
  }));
}

int read_link(const char* path, char* to, size_t bytes) {
  return answer([&] {
    const wire::Looked looked = look_at(path);
    if (looked.state.kind != wire::NameKind::kLink) {
      return -EINVAL;
    }
    const size_t used = std::min(looked.state.target.size(), bytes - 1);
    std::memcpy(to, looked.state.target.data(), used);
    to[used] = '\0';
    return 0;
  });
}

int link_name(const char* file, const char* path) {
  if (mounted().alone) {
    return -EPERM;
  }
  return after_change(answer([&] {
    ask(wire::Kind::kLinkName, wire::encode(wire::NewLink{name_of(path).path, name_of(file).path}));
    return 0;
  }));
}

/// A store has files, directories and symbolic links: no pipes, sockets or devices.
int make_node(const char* path, mode_t mode, dev_t) {
  if (!S_ISREG(mode)) {
    return -EPERM;
  }
  return after_change(answer([&] {
    auto made = mounted().driver.open(url_of(path),
                                      {.mode = storage::OpenOptions::Mode::kCreateNew, .permissions = mode & wire::kMaxMode});
    made.status().throw_if_error();
    give_to_maker(path);
    return minus_errno((*made)->close());
  }));
}

int get_space(const char*, struct statvfs* space) {
  return answer([&] {
    std::memset(space, 0, sizeof *space);
    space->f_bsize = 4096;
    space->f_frsize = 4096;
    space->f_namemax = wire::kMaxNameBytes;
    const std::string& url = mounted().url;
    for (const auto& server : servers_of(find_in_store(url), url).servers) {
      space->f_blocks += static_cast<fsblkcnt_t>(server.total_bytes) / space->f_frsize;
      space->f_bfree += static_cast<fsblkcnt_t>(server.free_bytes) / space->f_frsize;
    }
    space->f_bavail = space->f_bfree;
    return 0;
  });
}

int change_mode(const char* path, mode_t mode, fuse_file_info*) {
  return answer([&] {
    mounted().files.settle();
    change_name({.what = name_of(path), .mode = mode & wire::kMaxMode});
    return 0;
  });
}

/// Returns the file's mode, if it has privileges, without them.
std::optional<uint32_t> mode_without_privileges(const char* path) {
  const wire::NameState state = look_at(path).state;
  const bool loses = state.kind == wire::NameKind::kFile && has_privileges(state.owner.mode);
  return loses ? std::optional(without_privileges(state.owner.mode)) : std::nullopt;
}

int change_owner(const char* path, uid_t uid, gid_t gid, fuse_file_info*) {
  return answer([&] {
    mounted().files.settle();
    change_name({.what = name_of(path),
                 .uid = uid == static_cast<uid_t>(-1) ? std::nullopt : std::optional(uid),
                 .gid = gid == static_cast<gid_t>(-1) ? std::nullopt : std::optional(gid),
                 .mode = mounted().takes_privileges ? mode_without_privileges(path) : std::nullopt});
    return 0;
  });
}

wire::TimeChange change_to(const timespec& time) {
  using How = wire::TimeChange::How;
  if (time.tv_nsec == UTIME_OMIT) {
    return {};
  }
  return time.tv_nsec == UTIME_NOW ? wire::TimeChange{How::kNow}
                                   : wire::TimeChange{How::kGiven, time.tv_sec * kNsOfSecond + time.tv_nsec};
}

// What is kept goes to the servers first: what they wrote later would be the file's time again.
int set_times(const char* path, const timespec times[2], fuse_file_info*) {
  return answer([&] {
    mounted().files.settle();
    wire::Change change{.what = name_of(path), .accessed = change_to(times[0]), .modified = change_to(times[1])};
    if (change.modified.how != wire::TimeChange::How::kStays) {
      const MountedFiles::Changes before = mounted().files.changes();
      const wire::Looked looked = look_at(path);
      const storage::FileState state = surely_known(looked);
      mounted().files.note_state(looked.state.number, before, state);
      change.written_ns = state.modified_ns;
    }
    change_name(change);
    return 0;
  });
}

// A store keeps none of the system's attributes. Programs such as ls ask once and never again where
// an answer says that they aren't supported. The kernel asks for "security.capability" before each
// write: no server hears of it.
bool is_of_users(const char* name) {
  return std::strncmp(name, "user.", 5) == 0;
}

/// The name is there, or the kernel would not ask.
int errno_of_attribute(const Status& status) {
  return status.code() == ErrorCode::kNotFound ? -ENODATA : minus_errno(status);
}

int set_attribute_as(const wire::SetAttribute& request) {
  mounted().files.settle();
  return after_change(
      errno_of_attribute(mounted().store->ask_manager(wire::Kind::kSetAttribute, wire::encode(request)).status()));
}

int set_attribute(const char* path, const char* name, const char* value, size_t bytes, int flags) {
  if (!is_of_users(name)) {
    return -EOPNOTSUPP;
  }
  return answer([&] {
    using How = wire::SetAttribute::How;
    const How how = (flags & XATTR_CREATE) != 0 ? How::kCreate : (flags & XATTR_REPLACE) != 0 ? How::kReplace : How::kAny;
    return set_attribute_as({name_of(path), how, name, std::string(value, bytes)});
  });
}

int remove_attribute(const char* path, const char* name) {
  if (!is_of_users(name)) {
    return -EOPNOTSUPP;
  }
  return answer([&] { return set_attribute_as({name_of(path), wire::SetAttribute::How::kRemove, name, ""}); });
}

wire::UserAttributes attributes_at(const char* path, const char* name) {
  const auto reply = ask(wire::Kind::kGetAttribute, wire::encode(wire::GetAttribute{name_of(path), name}));
  return wire::decode<wire::UserAttributes>(reply).value();
}

/// Gives all of the text or none, and without room its length.
int give(const std::string& text, char* to, size_t bytes) {
  if (bytes != 0 && text.size() > bytes) {
    return -ERANGE;
  }
  if (bytes != 0) {
    std::memcpy(to, text.data(), text.size());
  }
  return static_cast<int>(text.size());
}

int get_attribute(const char* path, const char* name, char* to, size_t bytes) {
  if (!is_of_users(name)) {
    return -EOPNOTSUPP;
  }
  return answer([&] {
    const wire::UserAttributes found = attributes_at(path, name);
    return found.entries.empty() ? -ENODATA : give(found.entries.front().value, to, bytes);
  });
}

int list_attributes(const char* path, char* to, size_t bytes) {
  return answer([&] {
    std::string names;
    for (const wire::UserAttributes::Entry& entry : attributes_at(path, "").entries) {
      names += entry.name + '\0';
    }
    return give(names, to, bytes);
  });
}

}  // namespace

struct stat described(const wire::NameState& state, const storage::FileState& file) {
  struct stat details = {};
  const bool is_file = state.kind == wire::NameKind::kFile;
  details.st_ino = state.number;
  details.st_mode = type_of(state.kind) | state.owner.mode;
  details.st_nlink = state.is_directory() ? 2 : state.names;
  details.st_uid = state.owner.uid;
  details.st_gid = state.owner.gid;
  details.st_size = is_file ? file.bytes : static_cast<off_t>(state.target.size());
  details.st_blksize = static_cast<blksize_t>(std::max<int64_t>(state.stripe_bytes, 4096));
  details.st_blocks = file.allocated_bytes / kBlockOfStat;
  details.st_mtim = time_of(state.times.modified(file.modified_ns));
  details.st_ctim = time_of(state.times.changed(file.modified_ns));
  details.st_atim = time_of(state.times.accessed(file.modified_ns));
  return details;
}

std::vector<storage::FileState> states_as_known(std::span<const wire::Opened> places) {
  MountedStore& store = mounted();
  storage::StatesAsker asker{kShortPatience, store.silent.now()};
  const std::set<std::string> before = asker.silent;
  std::vector<storage::FileState> states = states_of_files(store.store, places, asker);
  for (const std::string& server : asker.silent) {
    if (!before.contains(server)) {
      store.silent.note(server);
    }
  }
  return states;
}

void check_size_is_known(const char* path, uint64_t number) {
  constexpr std::chrono::milliseconds kBetween{20};
  if (mounted().doubtful.now().contains(number)) {
    static_cast<void>(surely_known(look_at(path)));
  }
  // Nothing doubtful is told of the file any more, since it is open.
  while (mounted().doubtful.now().contains(number)) {
    std::this_thread::sleep_for(kBetween);
  }
}

void change_name(const wire::Change& change) {
  ask(wire::Kind::kChange, wire::encode(change));
  if (change.mode || change.uid || change.gid) {
    mounted().files.forget_modes();
  }
  mounted().files.forget_attributes();
  mounted().directories.forget(change.what.path.substr(mounted().root.size()));
}

bool has_several_names(const char* path) {
  const auto looked = storage::look(*mounted().store, name_of(path));
  return looked.ok() && looked->state.kind == wire::NameKind::kFile && looked->state.names > 1;
}

bool give_to_maker(const char* path) {
  const fuse_context* const maker = fuse_get_context();
  if (maker->uid == geteuid() && maker->gid == getegid()) {
    return false;
  }
  const std::string directory(path, std::string_view(path).rfind('/'));
  try {
    // What is made in a directory with the bit set-gid has its group already.
    const bool follows = (look_at(directory.c_str()).state.owner.mode & S_ISGID) != 0;
    change_name({.what = name_of(path), .uid = maker->uid, .gid = follows ? std::nullopt : std::optional(maker->gid)});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kPermissionDenied) {
      throw;
    }
  }
  return true;
}

void note_cut(const char* path) {
  const wire::Looked looked = look_at(path);
  wire::Change change{.what = name_of(path)};
  if (looked.state.times.modified_ns) {
    change.modified = {wire::TimeChange::How::kNow};
    change.written_ns = surely_known(looked).modified_ns;
  }
  if (is_asked_by_a_user() && has_privileges(looked.state.owner.mode)) {
    change.mode = without_privileges(looked.state.owner.mode);
  }
  if (looked.state.times.modified_ns || change.mode) {
    change_name(change);
  }
}

void take_privileges(const char* path) {
  const MountedFiles::Changes before = mounted().files.changes();
  const wire::NameState state = look_at(path).state;
  if (has_privileges(state.owner.mode)) {
    change_name({.what = name_of(path), .mode = without_privileges(state.owner.mode)});
  } else {
    mounted().files.note_mode(state.number, before, state.owner.mode);
  }
}

void add_name_calls(fuse_operations& calls) {
  calls.getattr = get_attributes;
  calls.unlink = remove_file;
  calls.mkdir = make_directory;
  calls.rmdir = remove_directory;
  calls.rename = rename;
  calls.symlink = make_link;
  calls.readlink = read_link;
  calls.link = link_name;
  calls.mknod = make_node;
  calls.statfs = get_space;
  calls.chmod = change_mode;
  calls.chown = change_owner;
  calls.utimens = set_times;
  calls.setxattr = set_attribute;
  calls.getxattr = get_attribute;
  calls.listxattr = list_attributes;
  calls.removexattr = remove_attribute;
}

}  // namespace stria::tool
