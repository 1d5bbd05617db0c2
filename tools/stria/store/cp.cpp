// stria cp: copies a file into a store or a pool, out of it, or within.
#include <fmt/format.h>

#include <array>

#include "storage/path.hpp"
#include "storage/registry.hpp"
#include "store/progress.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr int64_t kBlockBytes = int64_t{8} << 20;

struct Arguments {
  std::string from;
  std::string to;
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

/// When the target is a directory, the copy goes there under the old name.
std::string target_of(const Arguments& arguments) {
  const bool names_directory = arguments.to.ends_with('/');
  const bool at_root = storage::is_remote_path(arguments.to) && is_root(arguments.to);
  return names_directory || at_root ? joined(arguments.to, storage::file_name_of(arguments.from)) : arguments.to;
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
  CLI::App* command = app.add_subcommand("cp", "copy a file into a store or a pool, out of it, or within");
  command->add_option("from", arguments->from, "a path, of this machine, stria://SERVER/PATH or rados://POOL/PATH")
      ->required()
      ->check(not_empty());
  command->add_option("to", arguments->to, "the same; with a / at its end a directory")->required()->check(not_empty());
  command->add_flag("--sync", arguments->sync, "return when the copy survives a power loss");
  command->callback([=, &action] {
    action = [=](MPI_Comm) {
      copy_file(arguments->from, target_of(*arguments), arguments->sync);
      return kDone;
    };
  });
}

}  // namespace stria::tool
