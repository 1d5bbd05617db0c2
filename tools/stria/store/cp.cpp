// stria cp: copies files and directories into a store or a pool, out of it, or within.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <span>

#include "storage/path.hpp"
#include "storage/registry.hpp"
#include "store/places.hpp"
#include "store/progress.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr int64_t kBlockBytes = int64_t{8} << 20;

struct Arguments {
  std::vector<std::string> paths;  // the last is the target
  bool recursive = false;
  bool sync = false;
};

/// One block is read while the one before is written.
void copy_bytes(storage::File& from, storage::File& to) {
  std::array<std::vector<std::byte>, 2> blocks;
  std::unique_ptr<storage::PendingWrite> pending;
  const int64_t total = from.size().value();
  Progress progress(total);
  for (int64_t offset = 0, turn = 0; offset < total; turn = 1 - turn) {
    std::vector<std::byte>& block = blocks[static_cast<size_t>(turn)];
    block.resize(static_cast<size_t>(std::min(kBlockBytes, total - offset)));
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
}

void copy(const std::string& from, const std::string& to, const Arguments& arguments) {
  const PlaceKind kind = kind_of(from);
  if (kind != PlaceKind::kDirectory) {
    copy_file(from, to, arguments.sync);
    return;
  }
  if (!arguments.recursive) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is a directory: copy it with -r", from));
  }
  make_directories(to);
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
}

int run(const Arguments& arguments) {
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

void copy_file(const std::string& from_path, const std::string& target, bool sync) {
  const auto driver = storage::make_driver("posix").value();
  const auto from = driver->open(from_path, {}).value();
  const std::string partial = joined(storage::directory_of(target), fmt::format(".{}.partial", storage::file_name_of(target)));
  storage::OpenOptions options;
  options.mode = storage::OpenOptions::Mode::kCreate;
  options.exclusive_lock = true;
  const auto to = driver->open(partial, options).value();
  try {
    copy_bytes(*from, *to);
    if (sync) {
      to->sync().throw_if_error();
    }
    driver->rename(partial, target).throw_if_error();
  } catch (const Error&) {
    static_cast<void>(driver->remove(partial));
    throw;
  }
  to->close().throw_if_error();
  if (sync) {
    driver->sync_directory(target).throw_if_error();
  }
}

void add_cp(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("cp", "copy files into a store or a pool, out of it, or within");
  command
      ->add_option("paths", arguments->paths,
                   "from where, one or several, and to where: paths of this machine, stria://SERVER/PATH or rados://POOL/PATH; "
                   "into a directory, or one that is to be with a / at its end")
      ->required()
      ->expected(2, -1)
      ->check(not_empty());
  command->add_flag("-r,--recursive", arguments->recursive, "directories with all that is in them");
  command->add_flag("--sync", arguments->sync, "return when the copies survive a power loss");
  command->callback([=, &action] { action = [=](Ranks&) { return run(*arguments); }; });
}

}  // namespace stria::tool
