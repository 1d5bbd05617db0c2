// stria ls: lists a directory of a store or a pool.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "storage/rados/rados_driver.hpp"
#include "storage/rados/rados_path.hpp"
#include "store/described_name.hpp"
#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct Arguments {
  std::string path;
  bool details = false;
  bool as_json = false;
};

std::string line(const std::string& url, const std::string& name, bool is_directory, bool details) {
  const std::string shown = name + (is_directory ? "/" : "");
  if (!details) {
    return shown + "\n";
  }
  if (storage::is_rados_path(url)) {
    const storage::PoolName file = storage::look_in_pool(url).value();
    const std::string size = is_directory ? "" : std::to_string(file.bytes);
    return fmt::format("{:>15}  {:>14}  {}\n", size, is_directory ? "" : readable(file.object_bytes), shown);
  }
  const wire::Attributes attributes = attributes_of(url);
  const std::string made = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(attributes.created_ns / 1000000000));
  const std::string owner = fmt::format("{}  {:>8} {:>8}", mode_text(attributes.is_directory, attributes.owner.mode),
                                        user_name(attributes.owner.uid), group_name(attributes.owner.gid));
  if (is_directory) {
    return fmt::format("{}  {:>15}  {:>14}  {}  {}\n", owner, "", "", made, shown);
  }
  return fmt::format("{}  {:>15}  {:>3} x {:>8}  {}  {}\n", owner, state_of_file(url, attributes.place).bytes,
                     attributes.place.slots.size(), readable(attributes.place.stripe_bytes), made, shown);
}

nlohmann::json object(const std::string& url, const std::string& name, bool is_directory, bool details) {
  nlohmann::json described = details ? described_name(url) : nlohmann::json{{"directory", is_directory}};
  described["name"] = name;
  return described;
}

int run(const Arguments& arguments) {
  const bool of_file = !is_directory(arguments.path);
  const auto entries = of_file ? std::vector<wire::Listed::Entry>{{arguments.path, false}} : entries_of(arguments.path);
  std::string text;
  nlohmann::json objects = nlohmann::json::array();
  for (const wire::Listed::Entry& entry : entries) {
    const std::string url = of_file ? arguments.path : joined(arguments.path, entry.name);
    if (arguments.as_json) {
      objects.push_back(object(url, entry.name, entry.is_directory, arguments.details));
    } else {
      text += line(url, entry.name, entry.is_directory, arguments.details);
    }
  }
  if (arguments.as_json) {
    text = objects.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void add_ls(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("ls", "list a directory of a store or a pool");
  command->add_option("path", arguments->path, "stria://SERVER/PATH or rados://POOL/PATH")->required();
  command->add_flag(
      "-l,--long", arguments->details,
      "also mode, owner, group, bytes, servers and stripes, and when they were made; in a pool bytes and objects");
  command->add_flag("--json", arguments->as_json, "answer in JSON; with -l all that stat tells of each");
  command->callback([=, &action] { action = [=](Ranks&) { return run(*arguments); }; });
}

}  // namespace stria::tool
