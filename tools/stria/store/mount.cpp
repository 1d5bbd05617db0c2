// stria mount: a store as a directory of this machine.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>

#include "store/store_command.hpp"

#ifdef STRIA_WITH_FUSE
#include "storage/registry/registry.hpp"
#include "store/mounted_session.hpp"
#include "store/mounted_store.hpp"
#endif

namespace stria::tool {

namespace {

constexpr int64_t kUsualCacheBytes = 512 << 20;

struct MountArguments {
  std::string url;
  std::string directory;
  bool foreground = false;
  bool read_only = false;
  bool for_all = false;
  bool alone = false;
  int64_t cache_bytes = kUsualCacheBytes;
};

#ifdef STRIA_WITH_FUSE
/// Holds FUSE's arguments, which are freed by the destructor.
class FuseArguments {
 public:
  FuseArguments() { add("stria"); }
  FuseArguments(const FuseArguments&) = delete;
  FuseArguments& operator=(const FuseArguments&) = delete;
  ~FuseArguments() { fuse_opt_free_args(&arguments_); }
  void add(const std::string& text) {
    if (fuse_opt_add_arg(&arguments_, text.c_str()) != 0) {
      throw Error(ErrorCode::kResourceExhausted, "no memory for FUSE");
    }
  }
  fuse_args* get() { return &arguments_; }

 private:
  fuse_args arguments_ = FUSE_ARGS_INIT(0, nullptr);
};

/// Returns the directory's path in the store, without symbolic links; empty: the store's root.
std::string root_of(const std::string& url) {
  const StoreFile place = find_in_store(url);
  const auto resolved = place.store->ask_manager(wire::Kind::kResolve, wire::encode(wire::Path{place.path}));
  if (resolved.status().code() == ErrorCode::kUnsupported) {
    throw Error(ErrorCode::kUnsupported, fmt::format("'{}' can't be mounted: {}, or its manager is of an earlier version", url,
                                                     resolved.status().message()));
  }
  resolved.status().with_context(fmt::format("'{}'", url)).throw_if_error();
  const std::string path = wire::decode<wire::Path>(*resolved).value().path;
  return path == "/" ? "" : path;
}

/// Returns the value in the form in which FUSE takes one that may have commas.
std::string as_option(const std::string& value) {
  std::string escaped;
  for (const char each : value) {
    escaped += each == ',' || each == '\\' ? "\\" : "";
    escaped += each;
  }
  return escaped;
}

void check(const MountArguments& arguments) {
  const auto attributes = attributes_of(arguments.url);
  if (!attributes.is_directory) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is a file: mount a directory of a store", arguments.url));
  }
  struct stat place = {};
  if (stat(arguments.directory.c_str(), &place) != 0 || !S_ISDIR(place.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a directory on which to mount", arguments.directory));
  }
}

int run_mount(const MountArguments& arguments) {
  umask(0);  // the kernel applies that of the program that makes a file
  check(arguments);
  FuseArguments options;
  options.add("-ofsname=" + as_option(arguments.url) + ",subtype=stria,default_permissions");
  if (arguments.read_only) {
    options.add("-oro");
  }
  if (arguments.for_all) {
    options.add("-oallow_other");
  }
  const auto driver = storage::make_driver("posix").value();
  const auto store_of_names = find_in_store(arguments.url).store;
  store_of_names->gather_closes();
  // What can't be given up now is when the connection is made again.
  MountedFiles files(arguments.cache_bytes, [&] { static_cast<void>(store_of_names->give_up_closed()); });
  const std::string root = root_of(arguments.url);
  const std::string server = wire::StorePath::parse(arguments.url).value().server;
  MountedStore store{.url = "stria://" + server + root,
                     .driver = *driver,
                     .files = files,
                     .store = store_of_names,
                     .root = root,
                     .alone = arguments.alone};
  fuse* const session = fuse_new(options.get(), &mounted_store_operations(), sizeof(fuse_operations), &store);
  if (session == nullptr || fuse_mount(session, arguments.directory.c_str()) != 0) {
    throw Error(ErrorCode::kIo, fmt::format("can't mount on '{}': FUSE says why above", arguments.directory));
  }
  offer_to_take_privileges(session);
  // Nothing that runs on threads has begun yet: the process may still go to the background.
  fuse_daemonize(arguments.foreground ? 1 : 0);
  fuse_set_signal_handlers(fuse_get_session(session));
  fuse_loop_config loop = {};
  loop.max_idle_threads = 10;
  const int outcome = fuse_loop_mt(session, &loop);
  fuse_remove_signal_handlers(fuse_get_session(session));
  fuse_unmount(session);
  fuse_destroy(session);
  return outcome < 0 ? kUnusableInput : kDone;
}
#else
int run_mount(const MountArguments&) {
  throw Error(ErrorCode::kUnsupported, "this build can't mount: libfuse3 was not there (Debian's libfuse3-dev)");
}
#endif

}  // namespace

void add_mount(Command app, Action& action) {
  auto arguments = std::make_shared<MountArguments>();
  Command command = app.add_subcommand("mount", "a store as a directory of this machine, until fusermount3 -u DIR");
  command.add_option("store", arguments->url, "stria://SERVER or stria://SERVER/DIRECTORY").required();
  command.add_option("directory", arguments->directory, "where: an empty directory").required().check(not_empty());
  command.add_flag("--foreground", arguments->foreground, "stay in the foreground; Ctrl-C unmounts");
  command.add_flag("--read-only", arguments->read_only, "refuse changes");
  command.add_flag("--allow-other", arguments->for_all, "other users may enter too (user_allow_other in /etc/fuse.conf)");
  command.add_flag("--alone", arguments->alone, "nobody else changes its files meanwhile: the kernel gathers writes");
  command.add_option("--cache-bytes", arguments->cache_bytes, "memory for bytes of open files, 8 MiB each; 0: none")
      .check(in_range(0, INT64_MAX))
      .show_default();
  command.callback([=, &action] { action = [=](Ranks&) { return run_mount(*arguments); }; });
}

}  // namespace stria::tool
