// stria mkdir: makes directories of a store, as POSIX's mkdir does.
#include "storage/path.hpp"
#include "store/names/places.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

int run(const std::vector<std::string>& paths, bool with_parents) {
  for (const std::string& path : paths) {
    if (storage::is_rados_path(path)) {
      throw Error(ErrorCode::kUnsupported, "'" + path + "': the directories of a pool come with their files");
    }
    static_cast<void>(find_in_store(path));  // nothing of this machine
    if (with_parents) {
      make_directories(path);
    } else {
      make_directory(path);
    }
  }
  return kDone;
}

}  // namespace

void add_mkdir(Command app, Action& action) {
  auto paths = std::make_shared<std::vector<std::string>>();
  auto with_parents = std::make_shared<bool>(false);
  Command command = app.add_subcommand("mkdir", "make directories of a store");
  command.add_option("path", *paths, "stria://SERVER/PATH").required();
  command.add_flag("-p,--parents", *with_parents, "also those that are missing above; what is there already will do");
  command.callback([=, &action] { action = [=](Ranks&) { return run(*paths, *with_parents); }; });
}

}  // namespace stria::tool
