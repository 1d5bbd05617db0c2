// stria mkdir: makes directories of a store.
#include "storage/rados/rados_path.hpp"
#include "store/places.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

int run(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (storage::is_rados_path(path)) {
      throw Error(ErrorCode::kUnsupported, "'" + path + "': the directories of a pool come with their files");
    }
    static_cast<void>(find_in_store(path));  // nothing of this machine
    make_directories(path);
  }
  return kDone;
}

}  // namespace

void add_mkdir(CLI::App& app, Action& action) {
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("mkdir", "make directories of a store, and those that are missing above them");
  command->add_option("path", *paths, "stria://SERVER/PATH")->required();
  command->callback([=, &action] { action = [=](MPI_Comm) { return run(*paths); }; });
}

}  // namespace stria::tool
