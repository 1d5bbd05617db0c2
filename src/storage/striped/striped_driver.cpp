#include "storage/striped/striped_driver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/byte_range.hpp"
#include "storage/first_server.hpp"
#include "storage/messages.hpp"
#include "storage/striped/file_state.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_file.hpp"
#include "wire/address.hpp"

namespace stria::storage {

namespace {

constexpr std::chrono::milliseconds kBetweenRenames{250};

/// A path within a store, and the store.
struct StripedPlace {
  std::shared_ptr<Store> store;
  std::string path;
};

Result<StripedPlace> find_striped(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const wire::StorePath parsed, wire::StorePath::parse(path));
  STRIA_ASSIGN_OR_RETURN(auto store, Store::at(parsed.server));
  return StripedPlace{std::move(store), parsed.path};
}

Result<std::vector<std::byte>> ask_about(const char* operation, const std::string& path, wire::Kind kind) {
  const std::string what = describe(operation, path);
  const auto place = find_striped(path);
  if (!place.ok()) {
    return place.status().with_context(what);
  }
  auto reply = place->store->ask_manager(kind, wire::encode(wire::Path{place->path}));
  return reply.ok() ? std::move(reply) : reply.status().with_context(what);
}

Result<wire::Attributes> attributes_of(const std::string& path) {
  const auto reply = ask_about("look up", path, wire::Kind::kStat);
  STRIA_RETURN_IF_ERROR(reply.status());
  return wire::decode<wire::Attributes>(*reply);
}

/// Does what OpenOptions::mine_only asks for, of a file that is open.
Status check_mine(const char* operation, const std::string& path, const Store& store, const wire::Opened& opened) {
  STRIA_ASSIGN_OR_RETURN(const auto attributes, attributes_of(path));
  return attributes.place.file == opened.file && attributes.owner.uid == store.uid() ? Status() : not_mine(operation, path);
}

// Returns true for a file of this user that isn't locked, though a server of it is known to be
// gone: the manager tells of the lock first.
bool is_lost_and_mine(const std::string& path, const Store& store, const Status& refused) {
  const auto attributes = refused.code() == ErrorCode::kIo ? attributes_of(path) : Result<wire::Attributes>(refused);
  return attributes.ok() && !attributes->is_directory && attributes->owner.uid == store.uid() &&
         !wire::check_servers(attributes->place).ok();
}

/// Returns what the path leads to by symbolic links; the path itself where it has none, or where
/// nothing is there. Managers of versions without links know none.
Result<std::string> without_links(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const wire::StorePath parsed, wire::StorePath::parse(path));
  const auto reply = ask_about("look up", path, wire::Kind::kResolve);
  if (reply.status().code() == ErrorCode::kUnsupported || reply.status().code() == ErrorCode::kNotFound) {
    const auto found = attributes_of(path);
    return found.ok() || found.status().code() == ErrorCode::kNotFound ? Result<std::string>(path) : found.status();
  }
  STRIA_RETURN_IF_ERROR(reply.status());
  STRIA_ASSIGN_OR_RETURN(const wire::Path resolved, wire::decode<wire::Path>(*reply));
  return resolved.path == parsed.path ? path : "stria://" + parsed.server + resolved.path;
}

/// Returns the options for a file that takes the place of one which was removed.
OpenOptions anew(const OpenOptions& options) {
  OpenOptions made = options;
  made.mode = OpenOptions::Mode::kCreateNew;
  return made;
}

// Rounds the unit up to whole pages, so that no page of a server's file has bytes of two stripes.
void ask_for(const Striping& striping, wire::Open& request) {
  if (striping.unit_bytes > 0) {
    const int64_t wanted = std::clamp(striping.unit_bytes, wire::kMinStripeBytes, wire::kMaxStripeBytes);
    request.stripe_bytes = align_down(wanted, wire::kMinStripeBytes);
  }
  request.server_count = std::max(striping.server_count, 0);
  request.first_server = std::max(striping.first_server, -1);
  request.by_load = striping.first_server != FirstServer::kInTurn;
}

}  // namespace

Result<std::unique_ptr<File>> StripedDriver::open(const std::string& path, const OpenOptions& options) {
  const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
  const std::string what = describe(creates ? "create" : "open", path);
  if (options.direct) {
    return Status(ErrorCode::kUnsupported, what + ": a store offers no direct I/O");
  }
  const auto place = find_striped(path);
  if (!place.ok()) {
    return place.status().with_context(what);
  }
  wire::Open request;
  request.path = place->path;
  request.mode = static_cast<wire::OpenMode>(options.mode);
  request.exclusive = options.exclusive_lock;
  request.permissions = options.permissions & ~wire::this_umask();
  ask_for(options.striping, request);
  const bool replaces = options.mine_only && options.mode == OpenOptions::Mode::kCreate;
  const auto opened = place->store->open(request);
  if (!opened.ok()) {
    if (replaces && is_lost_and_mine(path, *place->store, opened.status())) {
      STRIA_RETURN_IF_ERROR(remove(path));
      return open(path, anew(options));
    }
    return opened.status().with_context(what);
  }
  auto file = std::make_unique<StripedFile>(place->store, path, *opened,
                                            StripedFile::Opening{request.handle, options.mode != OpenOptions::Mode::kRead});
  if (options.expected_number != 0 && opened->file != options.expected_number) {
    // The manager always knows what a name means now; waiting would not change its answer.
    return Status(ErrorCode::kIo, what + ": the name means another file than the one that was opened first");
  }
  if (options.mine_only) {
    STRIA_RETURN_IF_ERROR(check_mine(creates ? "create" : "open", path, *place->store, *opened));
  }
  if (opened->cut && replaces) {  // it is locked until the new one is there
    STRIA_RETURN_IF_ERROR(remove(path));
    return open(path, anew(options));
  }
  if (opened->cut) {
    STRIA_RETURN_IF_ERROR(file->resize(0));
  }
  return std::unique_ptr<File>(std::move(file));
}

Result<std::unique_ptr<File>> StripedDriver::open_again(const File& file, const OpenOptions& options) {
  const auto* open = dynamic_cast<const StripedFile*>(&file.plain());
  STRIA_RETURN_IF_ERROR(check_open_again(file, open != nullptr, options));
  return open->open_again(options.mode != OpenOptions::Mode::kRead);
}

Result<Identity> StripedDriver::identity(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto attributes, attributes_of(path));
  STRIA_ASSIGN_OR_RETURN(const StripedPlace place, find_striped(path));
  STRIA_ASSIGN_OR_RETURN(const uint64_t store, place.store->number());
  return Identity{store, attributes.place.file};
}

Result<NameInfo> StripedDriver::name_info(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto attributes, attributes_of(path));
  STRIA_ASSIGN_OR_RETURN(const StripedPlace place, find_striped(path));
  NameInfo info{.is_plain_file = !attributes.is_directory, .is_mine = attributes.owner.uid == place.store->uid()};
  if (info.is_plain_file) {
    const auto state = state_of_file(place.store, attributes.place);
    STRIA_RETURN_IF_ERROR(state.status().with_context(describe("look up", path)));
    info.changed_ns = std::max(state->modified_ns, attributes.created_ns);
  }
  return info;
}

// A symbolic link stays, and what it points to is replaced. A store has no pipes or access lists.
// The one who writes to a file there is checked when the name changes.
Result<Destination> StripedDriver::find_destination(const std::string& name) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, without_links(name));
  const auto found = attributes_of(path);
  if (found.status().code() == ErrorCode::kNotFound) {
    return Destination{.path = path};
  }
  STRIA_RETURN_IF_ERROR(found.status());
  if (found->is_directory) {
    return Status(ErrorCode::kInvalidArgument,
                  describe("replace", path) + ": it is a directory, not a file, and stays as it is");
  }
  return Destination{
      .path = path,
      .replaced = FileAttributes{.mode = found->owner.mode & 0777, .owner = found->owner.uid, .group = found->owner.gid}};
}

// Only root gives a file to another user, and a user only to a group of its own.
Status StripedDriver::set_attributes(File& file, const FileAttributes& attributes) {
  STRIA_ASSIGN_OR_RETURN(const auto made, attributes_of(file.path()));
  const auto set = [&](std::optional<uint32_t> owner, std::optional<uint32_t> group, std::optional<uint32_t> mode) -> Status {
    STRIA_ASSIGN_OR_RETURN(const StripedPlace place, find_striped(file.path()));
    const wire::SetOwnership change{.path = place.path, .uid = owner, .gid = group, .mode = mode};
    return place.store->ask_manager(wire::Kind::kSetOwnership, wire::encode(change))
        .status()
        .with_context(describe("set attributes of", file.path()));
  };
  const uint32_t group_bits = made.owner.gid == attributes.group || set({}, attributes.group, {}).ok()
                                  ? attributes.mode
                                  : without_group(attributes.mode);
  STRIA_RETURN_IF_ERROR(set({}, {}, group_bits));
  if (made.owner.uid != attributes.owner) {
    static_cast<void>(set(attributes.owner, {}, {}));
  }
  return Status();
}

Status StripedDriver::rename(const std::string& from, const std::string& to) {
  const std::string what = describe("rename", from) + " to '" + to + "'";
  const auto source = find_striped(from);
  const auto target = find_striped(to);
  if (!source.ok() || !target.ok()) {
    return (source.ok() ? target : source).status().with_context(what);
  }
  if (source->store != target->store) {
    return Status(ErrorCode::kUnsupported, what + ": they are in different stores: copy it");
  }
  const auto rename = [&] {
    return source->store->ask_manager(wire::Kind::kRename, wire::encode(wire::Rename{source->path, target->path})).status();
  };
  // A server that has signed off may be one that is started again.
  const auto deadline = Clock::now() + server_patience();
  Status outcome = rename();
  while (outcome.code() == ErrorCode::kAborted && Clock::now() < deadline) {
    std::this_thread::sleep_for(kBetweenRenames);
    outcome = rename();
  }
  return outcome.with_context(what);
}

Status StripedDriver::remove(const std::string& path) {
  return ask_about("remove", path, wire::Kind::kRemove).status();
}

Result<bool> StripedDriver::exists(const std::string& path) {
  const Status answer = ask_about("look up", path, wire::Kind::kStat).status();
  if (answer.ok() || answer.code() == ErrorCode::kNotFound) {
    return answer.ok();
  }
  return answer;
}

Status StripedDriver::sync_directory(const std::string& path) {
  return ask_about("sync directory", path, wire::Kind::kSyncNames).status();
}

Result<std::vector<std::string>> StripedDriver::list_directory(const std::string& directory) {
  const std::string what = describe("list", directory);
  const auto place = find_striped(directory);
  if (!place.ok()) {
    return place.status().with_context(what);
  }
  std::vector<std::string> names;
  wire::List request{place->path, ""};
  wire::Listed part;
  do {
    const auto reply = place->store->ask_manager(wire::Kind::kList, wire::encode(request));
    auto decoded = reply.ok() ? wire::decode<wire::Listed>(*reply) : Result<wire::Listed>(reply.status());
    if (!decoded.ok()) {
      return decoded.status().with_context(what);
    }
    part = std::move(*decoded);
    for (wire::Listed::Entry& entry : part.entries) {
      names.push_back(std::move(entry.name));
    }
    request.after = names.empty() ? "" : names.back();
  } while (part.more && !part.entries.empty());
  return names;
}

}  // namespace stria::storage
