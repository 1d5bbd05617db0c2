// stria mv: renames a file within a store.
#include "storage/registry.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

void add_mv(CLI::App& app, Action& action) {
  auto from = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("mv", "give a file or a directory of a store another name, replacing a file that had it");
  command->add_option("from", *from, "stria://SERVER/PATH")->required();
  command->add_option("to", *to, "the same store")->required();
  command->callback([=, &action] {
    action = [=](MPI_Comm) {
      find_in_store(*from);
      storage::make_driver("posix").value()->rename(*from, *to).throw_if_error();
      return kDone;
    };
  });
}

}  // namespace stria::tool
