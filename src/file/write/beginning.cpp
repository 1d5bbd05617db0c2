// Describes how a session that writes begins: a new file, its parts, and a file that grows.
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/out_of_memory.hpp"
#include "file/nodes/node_places.hpp"
#include "file/parts/home_turns.hpp"
#include "file/write/write_session.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

// Says where the raw data of a file get their places: in it, or in several files.
struct Layouts {
  std::unique_ptr<container::Layout> layout;
  PartedLayout* parted = nullptr;  // the same; null: in the file itself
};

Layouts make_layouts(const Environment& environment, bool is_new) {
  const int parts = is_new && environment.problem.ok() ? part_count(environment) : 0;
  if (parts == 0) {
    return {.layout = environment.format->make_layout()};
  }
  auto parted = std::make_unique<PartedLayout>(*environment.format, parts);
  PartedLayout* const same = parted.get();
  return {.layout = std::move(parted), .parted = same};
}

// Directories of the machine are no places in a store. Each n-th file leaves them out. Collective.
void settle_places(const std::string& path, const std::string& stored_path, Environment& environment, Meetings& meetings) {
  std::vector<std::string>& places = environment.hints.part_places;
  if (places.empty()) {
    return;
  }
  if (storage::is_remote_path(stored_path)) {
    meetings.reserve().attempt([&] {
      environment.hint_warnings.push_back(
          fmt::format("hint 'stria_part_places' has no effect on '{}', which lies in no directory of this machine: in a store "
                      "the parts and the parity lie on a server each, with 'stria_subfiles' and 'stria_parity'",
                      path));
    });
  } else if (environment.hints.home_every > 0) {
    int8_t stays_home = 0;
    if (meetings.is_root()) {
      meetings.reserve().attempt([&] { stays_home = is_turn_of_home(stored_path, environment.hints.home_every) ? 1 : 0; });
    }
    meetings.comm().broadcast(std::as_writable_bytes(std::span(&stays_home, 1)), 0);
    if (stays_home == 1) {
      places.clear();
    }
  }
}

// Only the parts of a file lie on the nodes' own disks. Local.
void stay_off_nodes(const std::string& path, Environment& environment, Meetings& meetings) {
  if (name_nodes(environment.hints.part_places)) {
    environment.hints.part_places.clear();
    meetings.reserve().attempt([&] {
      environment.hint_warnings.push_back(fmt::format(
          "hint 'stria_part_places' has no effect on '{}': its places name nodes, which needs 'stria_subfiles' for a new file",
          path));
    });
  }
}

// Returns what a file in parts can do, of which the storage of the file itself says `capabilities`.
// Collective, with the same outcome everywhere.
Result<storage::Capabilities> begin_parts(Parts& parts, NewFile& file, Environment& environment, Meetings& meetings,
                                          const storage::Capabilities& capabilities) {
  if (is_netcdf(environment.format->format())) {
    return Status(ErrorCode::kUnsupported, "stria_subfiles: a netCDF file can't have its data in other files");
  }
  const bool on_nodes = name_nodes(environment.hints.part_places) && !storage::is_remote_path(file.place().path());
  if (on_nodes) {
    STRIA_RETURN_IF_ERROR(begin_on_nodes(environment));
    meetings.reserve().attempt([&] {
      const std::string warning = environment.hints.parity_count == 0
                                      ? std::string()
                                      : warn_of_shared_nodes(meetings.comm(), file.place().path(), parts.map()->part_count(),
                                                             static_cast<int>(environment.hints.parity_count));
      if (!warning.empty()) {
        environment.hint_warnings.push_back(warning);
      }
    });
  }
  STRIA_RETURN_IF_ERROR(
      parts.create({.environment = environment, .path = file.place().path()}, file.place().unpublished_path()));
  if (!parts.server_warning().empty()) {
    meetings.reserve().attempt([&] { environment.hint_warnings.push_back(parts.server_warning()); });
  }
  // Bytes go past the page cache only where that is asked for.
  const bool direct = environment.hints.direct == access::Switch::kEnable && !on_nodes;
  if (!direct) {
    environment.hints.direct = access::Switch::kDisable;
  }
  file.handles().spread(parts.map());
  auto parted = storage::parted_capabilities(capabilities, parts.map()->part_count() < meetings.comm().size(), direct);
  // Ranks of a node that take turns would wait for one that waits for another node.
  parted.parallel_writes = parted.parallel_writes || on_nodes;
  return parted;
}

}  // namespace

WriteSession::WriteSession(Beginning beginning, PartedLayout* parted)
    : DefiningSession(std::move(beginning)),
      guard_({.copied_bytes = environment_.hints.put_copies_bytes,
              .samples = environment_.hints.put_check != access::Switch::kDisable}),
      file_(environment_, stored_path_, identity_, accounts_.times(), grows()) {
  if (parted != nullptr) {
    parts_ = std::make_unique<Parts>(*parted);
  }
  if (grows() || environment_.hints.parity_count > 0) {
    parity_.emplace();
  }
}

Result<std::shared_ptr<WriteSession>> WriteSession::make(Environment environment, const std::string& path,
                                                         const CreateOptions& options, Kind kind) {
  const bool is_new = kind == Kind::kNew;
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<WriteSession>> {
    Layouts layouts = make_layouts(environment, is_new);
    return std::shared_ptr<WriteSession>(new WriteSession({.environment = std::move(environment),
                                                           .path = path,
                                                           .options = options,
                                                           .roll_call = roll_call,
                                                           .kind = kind,
                                                           .layout = std::move(layouts.layout)},
                                                          layouts.parted));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, is_new ? Call::kCreate : Call::kAppend, made.status())
        .with_context(fmt::format("'{}' was not {}", path, is_new ? "written" : "changed"));
  }
  (*made)->meetings_.begin();
  return made;
}

Result<std::shared_ptr<WriteSession>> WriteSession::create(Environment environment, const std::string& path,
                                                           const CreateOptions& options) {
  STRIA_ASSIGN_OR_RETURN(auto made, make(std::move(environment), path, options, Kind::kNew));
  WriteSession& session = *made;
  Status status = session.environment_.problem;
  if (session.meetings_.is_root() && status.ok()) {
    status = or_out_of_memory([&] { return session.file_.create(session.path_); });
  }
  status = session.agree_on_file(Call::kCreate, status, session.file_.created(), session.file_.place().path());
  if (status.ok() && !session.meetings_.is_root()) {
    session.file_.place().follow(session.stored_path_);
  }
  if (status.ok()) {
    settle_places(path, session.stored_path_, session.environment_, session.meetings_);
  }
  if (status.ok() && session.parts_ == nullptr) {
    stay_off_nodes(path, session.environment_, session.meetings_);
  }
  if (status.ok() && session.parts_ != nullptr) {
    auto of_parts = begin_parts(*session.parts_, session.file_, session.environment_, session.meetings_, session.capabilities_);
    session.capabilities_ = of_parts.ok() ? *of_parts : session.capabilities_;
    status = of_parts.status();
  }
  if (!status.ok()) {
    return session.fail(status);
  }
  return made;
}

Result<std::shared_ptr<WriteSession>> WriteSession::append(Environment environment, const std::string& path,
                                                           const AppendOptions& options) {
  const CreateOptions writing{.hints = options.hints, .sync = options.sync};
  STRIA_ASSIGN_OR_RETURN(auto made, make(std::move(environment), path, writing, Kind::kGrowing));
  WriteSession& session = *made;
  stay_off_nodes(path, session.environment_, session.meetings_);
  std::vector<std::byte> message;
  Status status = session.environment_.problem;
  if (session.meetings_.is_root() && status.ok()) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(message, session.old_.open(session.file_, session.accounts_.times()));
      return Status();
    });
  }
  status = session.meetings_.meet_and_share(Call::kAppend, status, message);
  if (status.ok()) {
    status = or_out_of_memory([&] { return session.begin_behind_old(message); });
    status = session.agree_on_file(Call::kAppend, status, session.file_.created(), session.file_.place().path());
  }
  if (status.ok() && !session.meetings_.is_root()) {
    session.file_.place().follow(session.stored_path_);
  }
  if (status.ok()) {
    session.meetings_.poison(or_out_of_memory([&] {
      session.old_.note_place(
          {.driver = session.environment_.driver, .path = session.stored_path_, .identity = session.identity_});
      return Status();
    }));
  }
  session.accounts_.note_time();
  if (!status.ok()) {
    return session.fail(status);
  }
  return made;
}

// Begins behind what the file has. Local.
Status WriteSession::begin_behind_old(std::span<const std::byte> message) {
  if (!meetings_.is_root()) {
    STRIA_RETURN_IF_ERROR(old_.take(message));
  }
  const OldContent& old = old_.content();
  environment_.format = &container::format_of(old.format, path_);
  places_.begin_behind(old, *environment_.format);
  options_.checksums = old.checksums.present;
  accounts_.report().cleared_bytes = old.left_behind_bytes;
  return Status();
}

}  // namespace stria::file
