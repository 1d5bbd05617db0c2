// stria retire: takes a server out of a store.
#include <fmt/format.h>

#include <algorithm>

#include "report/text.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr size_t kMostNamed = 10;  // the files that a refusal names

struct RetireArguments {
  std::string url;
  std::string server;
  bool lost = false;
};

/// Adds files below the directory that have a part on the server, until there are enough.
void find_files_on(int64_t server, const std::string& url, std::vector<std::string>& found) {
  const auto is_on = [&](const wire::ServerPlace& slot) { return slot.index == server; };
  for (const StoreEntry& entry : entries_of(url)) {
    const std::string below = joined(url, entry.name);
    if (found.size() == kMostNamed) {
      return;
    }
    if (entry.is_directory) {
      find_files_on(server, below, found);
    } else if (!entry.is_link) {
      const auto slots = attributes_of(below).place.slots;
      if (std::any_of(slots.begin(), slots.end(), is_on)) {
        found.push_back(below);
      }
    }
  }
}

/// Says which files keep the server.
int refuse(const RetireArguments& arguments, int64_t server, uint64_t count) {
  std::vector<std::string> files;
  find_files_on(server, arguments.url, files);
  std::string text = fmt::format("stria: {} a part on server {}, so it stays:\n",
                                 counted_text(count, "file") + (count == 1 ? " has" : " have"), server);
  for (const std::string& file : files) {
    text += fmt::format("  {}\n", file);
  }
  if (files.size() < count) {
    text += fmt::format("  and {} more\n", count - files.size());
  }
  fmt::print(stderr, "{}Move them first (stria server drain); or give them up with --lost, if the server won't come back.\n",
             text);
  return kAnswerIsNo;
}

int run_retire(const RetireArguments& arguments) {
  const wire::ServerPlace server = find_server(arguments.url, arguments.server);
  const StoreFile root = find_in_store(arguments.url);
  const auto reply = root.store->ask_manager(wire::Kind::kRetire, wire::encode(wire::Retire{server.index, arguments.lost}));
  reply.status().with_context(arguments.url).throw_if_error();
  const auto answer = wire::decode<wire::Retired>(*reply).value();
  if (!answer.done) {
    return refuse(arguments, server.index, answer.files);
  }
  const std::string name = server.address.empty() ? "" : fmt::format(" ({})", server.address);
  fmt::print("server {}{} is none of the store's any more\n", server.index, name);
  if (answer.files > 0) {
    fmt::print("{} lost a part: 'stria scrub {}' names them; remove them\n",
               counted_text(answer.files, "file") + (answer.files == 1 ? " has" : " have"), arguments.url);
  }
  return kDone;
}

}  // namespace

void add_retire(Command app, Action& action) {
  auto arguments = std::make_shared<RetireArguments>();
  Command command = app.add_subcommand("retire", "take a server that is dead or empty out of a store");
  command.add_option("store", arguments->url, "stria://SERVER").required();
  command.add_option("server", arguments->server, "its number or its address, as df shows them").required();
  command.add_flag("--lost", arguments->lost, "even if files have parts there, which are lost with it");
  command.callback([=, &action] { action = [=](Ranks&) { return run_retire(*arguments); }; });
}

}  // namespace stria::tool
