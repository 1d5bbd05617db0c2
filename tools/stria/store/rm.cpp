// stria rm: removes files of a store; with -r also directories and all in them.
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  bool recursive = false;
};

void remove(const std::string& url, bool recursive) {
  if (recursive && attributes_of(url).is_directory) {
    for (const wire::Listed::Entry& entry : entries_of(url)) {
      remove(joined(url, entry.name), true);
    }
    if (find_in_store(url).path == "/") {
      return;  // the root stays
    }
  }
  const StoreFile file = find_in_store(url);
  file.store->ask_manager(wire::Kind::kRemove, wire::encode(wire::Path{file.path}))
      .status()
      .with_context("remove '" + url + "'")
      .throw_if_error();
}

int run(const Arguments& arguments) {
  for (const std::string& path : arguments.paths) {
    remove(path, arguments.recursive);
  }
  return kDone;
}

}  // namespace

void add_rm(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("rm", "remove files and empty directories of a store");
  command->add_option("path", arguments->paths, "stria://SERVER/PATH")->required();
  command->add_flag("-r,--recursive", arguments->recursive, "directories with all that is in them");
  command->callback([=, &action] { action = [=](MPI_Comm) { return run(*arguments); }; });
}

}  // namespace stria::tool
