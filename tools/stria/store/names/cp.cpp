// stria cp: copies files and directories into a store or a pool, out of it, or within.
#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <span>

#include "file/background/partial_file.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"
#include "store/names/places.hpp"
#include "store/progress.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr int64_t kCopyBlockBytes = int64_t{8} << 20;
constexpr uint32_t kOwnersAll = 0700;
constexpr uint32_t kReadAndWriteAll = 0666;

struct CpArguments {
  std::vector<std::string> paths;  // the last is the target
  bool recursive = false;
  bool sync = false;
};

/// Returns the mode of a copy: that of what it replaces, or of what is copied, as far as the umask
/// lets it.
std::optional<uint32_t> copied_mode(const std::string& from, const std::string& target) {
  if (const auto replaced = mode_of(target)) {
    return replaced;
  }
  const auto mode = mode_of(from);
  return mode ? std::optional(*mode & ~wire::this_umask()) : mode;
}

volatile std::sig_atomic_t ending_signal = 0;

/// While it lives, the first SIGINT or SIGTERM is noted, and a second one ends the program.
class NotedSignals {
 public:
  NotedSignals() {
    struct sigaction noted = {};
    noted.sa_handler = [](int signal) { ending_signal = signal; };
    noted.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &noted, &before_[0]);
    sigaction(SIGTERM, &noted, &before_[1]);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;
  ~NotedSignals() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGTERM, &before_[1], nullptr);
    if (ending_signal != 0) {
      raise(ending_signal);
    }
  }

 private:
  std::array<struct sigaction, 2> before_{};
};

/// One block is read while the one before is written. Returns how many bytes were copied.
int64_t copy_bytes(storage::File& from, storage::File& to) {
  std::array<std::vector<std::byte>, 2> blocks;
  std::unique_ptr<storage::PendingWrite> pending;
  const int64_t total = from.size().value();
  Progress progress(total);
  for (int64_t offset = 0, turn = 0; offset < total; turn = 1 - turn) {
    if (ending_signal != 0) {
      throw Error(ErrorCode::kAborted, fmt::format("'{}' was not copied: ended by a signal", from.path()));
    }
    std::vector<std::byte>& block = blocks[static_cast<size_t>(turn)];
    block.resize(static_cast<size_t>(std::min(kCopyBlockBytes, total - offset)));
    const storage::ReadSegment segment{offset, block.data(), static_cast<int64_t>(block.size())};
    const int64_t bytes = from.read({&segment, 1}).value();
    if (pending != nullptr) {
      pending->wait().throw_if_error();
    }
    if (bytes == 0) {
      throw Error(ErrorCode::kIo, fmt::format("'{}' grew shorter while it was copied", from.path()));
    }
    const storage::WriteSegment written{offset, block.data(), bytes};
    pending = to.start_write({&written, 1});
    offset += bytes;
    progress.say(offset);
  }
  if (pending != nullptr) {
    pending->wait().throw_if_error();
  }
  return total;
}

void copy(const std::string& from, const std::string& to, const CpArguments& arguments) {
  const PlaceKind kind = kind_of(from);
  if (kind != PlaceKind::kDirectory) {
    copy_file(from, to, arguments.sync);
    return;
  }
  if (!arguments.recursive) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is a directory: copy it with -r", from));
  }
  // The copy of a directory keeps out from the beginning whom the directory keeps out.
  const auto mode = copied_mode(from, to);
  make_directories(to);
  if (mode) {
    set_mode(to, *mode | kOwnersAll);
  }
  for (const std::string& name : names_in(from)) {
    const std::string below = joined(from, name);
    std::error_code ignored;
    if (!storage::is_remote_path(below) && std::filesystem::is_symlink(below, ignored) &&
        kind_of(below) == PlaceKind::kDirectory) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is a link to a directory, which may lead round in a circle", below));
    }
    copy(below, joined(to, name), arguments);
  }
  if (mode) {
    set_mode(to, *mode);
  }
}

int run_cp(const CpArguments& arguments) {
  const std::string& to = arguments.paths.back();
  const std::span<const std::string> sources(arguments.paths.data(), arguments.paths.size() - 1);
  if (sources.size() > 1 && !to.ends_with('/') && kind_of(to) != PlaceKind::kDirectory) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no directory, and several files can't have one name", to));
  }
  for (const std::string& from : sources) {
    const std::string target = target_of(from, to);
    if (lies_in(target, from)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' can't be copied into itself", from));
    }
    copy(from, target, arguments);
  }
  return kDone;
}

}  // namespace

// A file that is replaced keeps its mode.
void copy_file(const std::string& from_path, const std::string& target, bool sync) {
  const auto driver = storage::make_driver("posix").value();
  const auto from = driver->open(from_path, {}).value();
  file::PartialFile to(driver, target);
  to.find().throw_if_error();
  const NotedSignals signals;
  to.create({.permissions = mode_of(from_path).value_or(kReadAndWriteAll)}).throw_if_error();
  try {
    const int64_t bytes = copy_bytes(*from, *to.file());
    PhaseTimes times;
    to.publish(bytes, sync, times).throw_if_error();
  } catch (const Error&) {
    to.discard();
    throw;
  }
}

void add_cp(Command app, Action& action) {
  auto arguments = std::make_shared<CpArguments>();
  Command command = app.add_subcommand("cp", "copy files into a store or a pool, out of it, or within");
  command
      .add_option("paths", arguments->paths,
                  "from where, one or several, and to where: paths of this machine, stria://SERVER/PATH or rados://POOL/PATH; "
                  "into a directory, or one that is to be with a / at its end")
      .required()
      .expected(2, -1)
      .check(not_empty());
  command.add_flag("-r,--recursive", arguments->recursive, "directories with all that is in them");
  command.add_flag("--sync", arguments->sync, "return when the copies survive a power loss");
  command.callback([=, &action] { action = [=](Ranks&) { return run_cp(*arguments); }; });
}

}  // namespace stria::tool
