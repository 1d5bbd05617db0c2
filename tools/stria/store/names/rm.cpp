// stria rm: removes files of a store or a pool; with -r also directories and all in them.
#include <fmt/format.h>

#include "storage/path.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct RmArguments {
  std::vector<std::string> paths;
  bool recursive = false;
};

/// A symbolic link is removed, and not what it points to.
bool is_directory_itself(const std::string& url) {
  return storage::is_rados_path(url) ? is_directory(url) : name_itself(url).state.is_directory();
}

void remove(const std::string& url, bool recursive) {
  if (recursive && is_directory_itself(url)) {
    for (const wire::Listed::Entry& entry : entries_of(url)) {
      remove(joined(url, entry.name), true);
    }
    if (is_root(url)) {
      return;  // the root stays
    }
  }
  remove_name(url);
}

/// What can't be removed doesn't keep the rest.
int run_rm(const RmArguments& arguments) {
  int outcome = kDone;
  for (const std::string& path : arguments.paths) {
    try {
      remove(path, arguments.recursive);
    } catch (const Error& error) {
      fmt::print(stderr, "stria: {}\n", error.what());
      outcome = kUnusableInput;
    }
  }
  return outcome;
}

}  // namespace

void add_rm(Command app, Action& action) {
  auto arguments = std::make_shared<RmArguments>();
  Command command = app.add_subcommand("rm", "remove files and empty directories of a store or a pool");
  command.add_option("path", arguments->paths, "stria://SERVER/PATH or rados://POOL/PATH").required();
  command.add_flag("-r,--recursive", arguments->recursive, "directories with all that is in them");
  command.callback([=, &action] { action = [=](Ranks&) { return run_rm(*arguments); }; });
}

}  // namespace stria::tool
