// stria promote: makes a standby the manager of its store.
#include <fmt/format.h>

#include <chrono>

#include "store/store_command.hpp"
#include "wire/standby.hpp"

namespace stria::tool {

namespace {

struct PromoteArguments {
  std::string url;
  bool even_if_behind = false;
};

int run_promote(const PromoteArguments& arguments) {
  const StoreFile standby = find_in_store(arguments.url);
  const auto reply = standby.store->ask_manager(wire::Kind::kPromote, wire::encode(wire::Promote{arguments.even_if_behind}));
  reply.status().with_context(arguments.url).throw_if_error();
  const wire::Promoted done = wire::decode<wire::Promoted>(*reply).value();
  fmt::print("{} is the manager now (epoch {})\n", done.manager, done.epoch);
  if (!done.was_reached) {
    fmt::print(stderr, "stria: the manager before didn't answer; it can change nothing any more\n");
  }
  for (const std::string& address : done.unreached) {
    fmt::print(stderr, "stria: server {} has yet to hear of it\n", address.empty() ? "without an address" : address);
  }
  return kDone;
}

}  // namespace

void add_promote(Command app, Action& action) {
  auto arguments = std::make_shared<PromoteArguments>();
  Command command = app.add_subcommand("promote", "make a standby the manager of its store (docs/servers.md)");
  command.add_option("standby", arguments->url, "stria://SERVER, the address of the standby itself").required();
  command.add_flag("--even-if-behind", arguments->even_if_behind,
                   "also where changes of names may be lost: the manager has gone on without it, or too few servers answer");
  command.callback([=, &action] { action = [=](Ranks&) { return run_promote(*arguments); }; });
}

}  // namespace stria::tool
