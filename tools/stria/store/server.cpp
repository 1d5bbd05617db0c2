// stria server: which servers of a store take new files, and what moves between them.
#include <fmt/format.h>

#include "store/moves/move_parts.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct ServerArguments {
  std::string url;
  std::string server;
};

int set_new_files(const ServerArguments& arguments, bool taken) {
  const wire::ServerPlace server = find_server(arguments.url, arguments.server);
  const StoreFile root = find_in_store(arguments.url);
  const auto reply = root.store->ask_manager(wire::Kind::kNewFiles, wire::encode(wire::NewFiles{server.index, taken}));
  reply.status().with_context(arguments.url).throw_if_error();
  fmt::print("server {} ({}) {}\n", server.index, server.address.empty() ? "gone" : server.address,
             taken ? "takes new files" : "takes no new files; those that it has stay");
  return kDone;
}

void add_switch(Command server, Action& action, bool taken) {
  auto arguments = std::make_shared<ServerArguments>();
  Command command = taken ? server.add_subcommand("new-files", "new files may lie on it again")
                          : server.add_subcommand("no-new-files", "no new file is to lie on it; those that it has stay");
  command.add_option("store", arguments->url, "stria://SERVER").required();
  command.add_option("server", arguments->server, "its number or its address, as df shows them").required();
  command.callback([=, &action] { action = [=](Ranks&) { return set_new_files(*arguments, taken); }; });
}

}  // namespace

void add_server(Command app, Action& action) {
  Command server = app.add_subcommand("server", "which servers of a store take new files, and which files lie on them");
  server.require_subcommand();
  add_switch(server, action, false);
  add_switch(server, action, true);
  add_drain_server(server, action);
  add_rebalance(server, action);
}

}  // namespace stria::tool
