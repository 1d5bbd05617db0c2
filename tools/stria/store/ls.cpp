// stria ls: lists a directory of a store or a pool.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "storage/rados/rados_driver.hpp"
#include "storage/rados_path.hpp"
#include "store/described_name.hpp"
#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct LsArguments {
  std::string path;
  bool details = false;
  bool as_json = false;
};

/// On a terminal a name can't do anything: bytes that terminals obey are shown as "?".
std::string shown_name(std::string name) {
  if (isatty(STDOUT_FILENO) != 0) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char byte) { return std::iscntrl(byte) != 0; }, '?');
  }
  return name;
}

std::string long_line(const std::string& url, const std::string& shown, bool is_directory, StateAsker& asker) {
  if (storage::is_rados_path(url)) {
    const storage::PoolName file = storage::look_in_pool(url).value();
    const std::string size = is_directory ? "" : std::to_string(file.bytes);
    return fmt::format("{:>15}  {:>14}  {}\n", size, is_directory ? "" : readable(file.object_bytes), shown);
  }
  const wire::Attributes attributes = attributes_of(url);
  const std::string owner = fmt::format("{} {:>8} {:>8}", mode_text(attributes.is_directory, attributes.owner.mode),
                                        user_name(attributes.owner.uid), group_name(attributes.owner.gid));
  if (is_directory) {
    return fmt::format("{}  {:>8}  {:>11}  {}  {}\n", owner, "", "", time_text(attributes.created_ns, false), shown);
  }
  const auto state = asker.ask(url, attributes.place);
  const std::string changed = state ? time_text(std::max(state->modified_ns, attributes.created_ns), false) : "?";
  return fmt::format("{}  {:>8}  {:>2}x {:>8}  {:>16}  {}\n", owner, state ? readable(state->bytes) : "?",
                     attributes.place.slots.size(), readable(attributes.place.stripe_bytes), changed, shown);
}

int run_ls(const LsArguments& arguments) {
  const bool of_file = !is_directory(arguments.path);
  const auto entries = of_file ? std::vector<wire::Listed::Entry>{{arguments.path, false}} : entries_of(arguments.path);
  std::string text;
  nlohmann::json objects = nlohmann::json::array();
  StateAsker asker;
  for (const wire::Listed::Entry& entry : entries) {
    const std::string url = of_file ? arguments.path : joined(arguments.path, entry.name);
    const std::string shown = shown_name(entry.name) + (entry.is_directory ? "/" : "");
    if (arguments.as_json) {
      const nlohmann::json brief = {{"directory", entry.is_directory}};
      objects.push_back(arguments.details ? described_name(url, asker) : brief);
      objects.back()["name"] = entry.name;
    } else {
      text += arguments.details ? long_line(url, shown, entry.is_directory, asker) : shown + "\n";
    }
  }
  if (arguments.as_json) {
    text = objects.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  std::fputs(text.c_str(), stdout);
  return told_trouble(asker);
}

}  // namespace

void add_ls(Command app, Action& action) {
  auto arguments = std::make_shared<LsArguments>();
  Command command = app.add_subcommand("ls", "list a directory of a store or a pool");
  command.add_option("path", arguments->path, "stria://SERVER/PATH or rados://POOL/PATH").required();
  command.add_flag(
      "-l,--long", arguments->details,
      "also mode, owner, group, bytes, servers and stripes, and when they were changed; in a pool bytes and objects");
  command.add_flag("--json", arguments->as_json, "answer in JSON; with -l all that stat tells of each");
  command.callback([=, &action] { action = [=](Ranks&) { return run_ls(*arguments); }; });
}

}  // namespace stria::tool
