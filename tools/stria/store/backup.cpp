// stria backup: a copy of a store's names while its manager runs.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>

#include "store/progress.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

// A manager that is started again, or another that takes over, knows nothing of the copy.
constexpr int kMostCopies = 10;

struct BackupArguments {
  std::string url;
  std::string file;
};

/// A file that gets its name when it is whole and on the disk. Only its owner may read it: the
/// store's secret is in it.
class PrivateCopy {
 public:
  explicit PrivateCopy(const std::string& path) : path_(path), partial_(path + ".partial") {
    unlink(partial_.c_str());
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(descriptor_ >= 0);
  }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;
  ~PrivateCopy() {
    if (descriptor_ >= 0) {
      close(descriptor_);
      unlink(partial_.c_str());
    }
  }
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) {
        continue;
      }
      check(written > 0);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
  }
  void begin_anew() { check(ftruncate(descriptor_, 0) == 0 && lseek(descriptor_, 0, SEEK_SET) == 0); }
  void publish() {
    check(fsync(descriptor_) == 0);
    check(rename(partial_.c_str(), path_.c_str()) == 0);
    close(std::exchange(descriptor_, -1));
  }

 private:
  void check(bool done) const {
    if (!done) {
      Status::from_errno(errno == 0 ? ENOSPC : errno, fmt::format("write '{}'", path_)).throw_if_error();
    }
  }
  std::string path_;
  std::string partial_;
  int descriptor_ = -1;
};

int run_backup(const BackupArguments& arguments) {
  const StoreFile root = find_in_store(arguments.url);
  PrivateCopy copy(arguments.file);
  Progress progress(0);
  wire::Backup request;
  wire::BackupPart part;
  int copies = 1;
  do {
    const auto reply = root.store->ask_manager(wire::Kind::kBackup, wire::encode(request));
    if (reply.status().code() == ErrorCode::kAborted && copies++ < kMostCopies) {
      copy.begin_anew();
      request = {};
      part = {};
      continue;
    }
    reply.status().with_context(arguments.url).throw_if_error();
    part = wire::decode<wire::BackupPart>(*reply).value();
    if (part.total_bytes > 0 && part.bytes.empty()) {
      throw Error(ErrorCode::kFormat, fmt::format("'{}': the manager's copy ends too early", arguments.url));
    }
    copy.add(part.bytes);
    request = {part.number, request.offset + static_cast<int64_t>(part.bytes.size())};
    progress.say(request.offset);
  } while (part.total_bytes == 0 || request.offset < part.total_bytes);
  copy.publish();
  fmt::print("{} of names\n", readable(request.offset));
  return kDone;
}

}  // namespace

void add_backup(Command app, Action& action) {
  auto arguments = std::make_shared<BackupArguments>();
  Command command = app.add_subcommand("backup", "copy a store's names while its manager runs");
  command.add_option("store", arguments->url, "stria://SERVER").required();
  command.add_option("file", arguments->file, "the copy, which replaces an older one when it is whole")
      .required()
      .check(not_empty());
  command.callback([=, &action] { action = [=](Ranks&) { return run_backup(*arguments); }; });
}

}  // namespace stria::tool
