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
void settle_places(OpenFile& file) {
  Environment& environment = file.environment;
  std::vector<std::string>& places = environment.hints.part_places;
  if (places.empty()) {
    return;
  }
  if (storage::is_remote_path(file.stored_path)) {
    file.meetings.reserve().attempt([&] {
      environment.hint_warnings.push_back(
          fmt::format("hint 'stria_part_places' has no effect on '{}', which lies in no directory of this machine: in a store "
                      "the parts and the parity lie on a server each, with 'stria_subfiles' and 'stria_parity'",
                      file.path));
    });
  } else if (environment.hints.home_every > 0) {
    int8_t stays_home = 0;
    if (file.meetings.is_root()) {
      file.meetings.reserve().attempt(
          [&] { stays_home = is_turn_of_home(file.stored_path, environment.hints.home_every) ? 1 : 0; });
    }
    file.comm().broadcast(std::as_writable_bytes(std::span(&stays_home, 1)), 0);
    if (stays_home == 1) {
      places.clear();
    }
  }
}

// Only the parts of a file lie on the nodes' own disks. Local.
void stay_off_nodes(OpenFile& file) {
  Environment& environment = file.environment;
  if (name_nodes(environment.hints.part_places)) {
    environment.hints.part_places.clear();
    file.meetings.reserve().attempt([&] {
      environment.hint_warnings.push_back(fmt::format(
          "hint 'stria_part_places' has no effect on '{}': its places name nodes, which needs 'stria_subfiles' for a new file",
          file.path));
    });
  }
}

// Makes the parts. The file then has the capabilities of what is in them, of which before it has
// those of the storage of the file itself. Collective, with the same outcome everywhere.
Status begin_parts(OpenFile& file, Parts& parts, NewFile& target) {
  Environment& environment = file.environment;
  if (is_netcdf(file.format())) {
    return Status(ErrorCode::kUnsupported, "stria_subfiles: a netCDF file can't have its data in other files");
  }
  const bool on_nodes = name_nodes(environment.hints.part_places) && !storage::is_remote_path(target.place().path());
  if (on_nodes) {
    STRIA_RETURN_IF_ERROR(begin_on_nodes(environment));
    file.meetings.reserve().attempt([&] {
      const std::string warning = environment.hints.parity_count == 0
                                      ? std::string()
                                      : warn_of_shared_nodes(file.comm(), target.place().path(), parts.map()->part_count(),
                                                             static_cast<int>(environment.hints.parity_count));
      if (!warning.empty()) {
        environment.hint_warnings.push_back(warning);
      }
    });
  }
  STRIA_RETURN_IF_ERROR(
      parts.create({.environment = environment, .path = target.place().path()}, target.place().unpublished_path()));
  if (!parts.server_warning().empty()) {
    file.meetings.reserve().attempt([&] { environment.hint_warnings.push_back(parts.server_warning()); });
  }
  // Bytes go past the page cache only where that is asked for.
  const bool direct = environment.hints.direct == access::Switch::kEnable && !on_nodes;
  if (!direct) {
    environment.hints.direct = access::Switch::kDisable;
  }
  target.handles().spread(parts.map());
  file.capabilities = storage::parted_capabilities(file.capabilities, parts.map()->part_count() < file.comm().size(), direct);
  // Ranks of a node that take turns would wait for one that waits for another node.
  file.capabilities.parallel_writes = file.capabilities.parallel_writes || on_nodes;
  return Status();
}

// Takes up what a file that grows has, of which rank 0 has sent the others a message, and begins
// behind that. Local.
Status begin_behind_old(OpenFile& file, Defined& defined, std::span<const std::byte> message) {
  if (!file.meetings.is_root()) {
    STRIA_RETURN_IF_ERROR(defined.old.take(message));
  }
  const OldContent& old = defined.old.content();
  file.environment.format = &container::format_of(old.format, file.path);
  defined.places.begin_behind(old, *file.environment.format);
  defined.options.checksums = old.checksums.present;
  file.accounts.report().cleared_bytes = old.left_behind_bytes;
  return Status();
}

}  // namespace

WriteSession::WriteSession(Beginning beginning)
    : file_(beginning.by, std::move(beginning.environment), std::move(beginning.path), std::move(beginning.roll_call)),
      defined_{.options = std::move(beginning.options),
               .old = OldFile(file_.path),
               .places = Places(std::move(beginning.layout)),
               .definitions = Definitions(file_.environment.hints.alignment_bytes, file_.meetings.is_root())},
      guard_({.copied_bytes = file_.environment.hints.put_copies_bytes,
              .samples = file_.environment.hints.put_check != access::Switch::kDisable}),
      target_(file_.environment.hints, file_.stored_path, file_.grows()) {
  if (beginning.parted != nullptr) {
    parts_ = std::make_unique<Parts>(*beginning.parted);
  }
  if (file_.grows() || file_.environment.hints.parity_count > 0) {
    parity_.emplace();
  }
  const CreateOptions& options = defined_.options;
  const uint64_t choices = (options.sync ? 2 : 0) + (options.checksums ? 1 : 0) + 4 * static_cast<uint64_t>(options.format) +
                           (options.track_order ? 64 : 0);
  log_opening(file_, choices, [&options]() -> OpeningOptions {
    return {{"sync", options.sync ? "true" : "false"},
            {"checksums", options.checksums ? "true" : "false"},
            {"track_order", options.track_order ? "true" : "false"},
            {"format", fmt::format("{}", static_cast<int>(options.format))}};
  });
}

Result<std::shared_ptr<WriteSession>> WriteSession::make(Call by, Environment environment, const std::string& path,
                                                         const CreateOptions& options) {
  const bool is_new = by == Call::kCreate;
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<WriteSession>> {
    Layouts layouts = make_layouts(environment, is_new);
    return std::shared_ptr<WriteSession>(new WriteSession({.by = by,
                                                           .environment = std::move(environment),
                                                           .path = path,
                                                           .options = options,
                                                           .roll_call = roll_call,
                                                           .layout = std::move(layouts.layout),
                                                           .parted = layouts.parted}));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, by, made.status())
        .with_context(fmt::format("'{}' was not {}", path, is_new ? "written" : "changed"));
  }
  (*made)->file_.meetings.begin();
  return made;
}

Result<std::shared_ptr<WriteSession>> WriteSession::create(Environment environment, const std::string& path,
                                                           const CreateOptions& options) {
  STRIA_ASSIGN_OR_RETURN(auto made, make(Call::kCreate, std::move(environment), path, options));
  OpenFile& file = made->file_;
  NewFile& target = made->target_;
  Status status = file.environment.problem;
  if (file.meetings.is_root() && status.ok()) {
    status = or_out_of_memory([&] { return target.create(file); });
  }
  status = agree_on_file(file, status, target.created(), target.place().path());
  if (status.ok() && !file.meetings.is_root()) {
    target.place().follow(file.stored_path);
  }
  if (status.ok()) {
    settle_places(file);
  }
  if (status.ok() && made->parts_ == nullptr) {
    stay_off_nodes(file);
  }
  if (status.ok() && made->parts_ != nullptr) {
    status = begin_parts(file, *made->parts_, target);
  }
  if (!status.ok()) {
    return made->fail(status);
  }
  return made;
}

Result<std::shared_ptr<WriteSession>> WriteSession::append(Environment environment, const std::string& path,
                                                           const AppendOptions& options) {
  const CreateOptions writing{.hints = options.hints, .sync = options.sync};
  STRIA_ASSIGN_OR_RETURN(auto made, make(Call::kAppend, std::move(environment), path, writing));
  OpenFile& file = made->file_;
  NewFile& target = made->target_;
  stay_off_nodes(file);
  std::vector<std::byte> message;
  Status status = file.environment.problem;
  if (file.meetings.is_root() && status.ok()) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(message, made->defined_.old.open(file, target));
      return Status();
    });
  }
  status = file.meetings.meet_and_share(Call::kAppend, status, message);
  if (status.ok()) {
    status = or_out_of_memory([&] { return begin_behind_old(file, made->defined_, message); });
    status = agree_on_file(file, status, target.created(), target.place().path());
  }
  if (status.ok() && !file.meetings.is_root()) {
    target.place().follow(file.stored_path);
  }
  if (status.ok()) {
    file.meetings.poison(or_out_of_memory([&] {
      made->defined_.old.note_place({.driver = file.environment.driver, .path = file.stored_path, .identity = file.identity});
      return Status();
    }));
  }
  file.accounts.note_time();
  if (!status.ok()) {
    return made->fail(status);
  }
  return made;
}

}  // namespace stria::file
