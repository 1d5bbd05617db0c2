// stria df: the servers of a store and the space on them.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

int run_df(const std::string& url, bool as_json) {
  const StoreFile root = find_in_store(url);
  const auto list = servers_of(root, url);
  const Conditions conditions = conditions_of(root, url);
  json all = json::array();
  std::string text = fmt::format("{:<5}{:<28}{:>12}{:>12}  {}\n", "", "server", "size", "free", "state");
  for (const auto& server : list.servers) {
    text += fmt::format("{:<5}{:<28}{:>12}{:>12}  {}\n", server.place.index, address_of(server), readable(server.total_bytes),
                        readable(server.free_bytes), state_of(server, conditions));
    all.push_back({{"index", server.place.index},
                   {"address", server.place.address},
                   {"total_bytes", server.total_bytes},
                   {"free_bytes", server.free_bytes},
                   {"load_bytes", server.load_bytes},
                   {"silent_ms", server.silent_ms},
                   {"state", state_of(server, conditions)}});
  }
  std::fputs((as_json ? all.dump(2) + "\n" : text).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_df(Command app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  Command command = app.add_subcommand("df", "the servers of a store and the space on them");
  command.add_option("store", *path, "stria://SERVER").required();
  command.add_flag("--json", *as_json, "answer in JSON");
  command.callback([=, &action] { action = [=](Ranks&) { return run_df(*path, *as_json); }; });
}

}  // namespace stria::tool
