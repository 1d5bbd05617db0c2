// stria stat: what a store knows about a file.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "storage/registry.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

json describe(const std::string& url) {
  const wire::Attributes attributes = attributes_of(url);
  json description = {{"path", url},
                      {"directory", attributes.is_directory},
                      {"made", fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(attributes.created_ns / 1000000000))}};
  if (!attributes.is_directory) {
    const auto driver = storage::make_driver("posix").value();
    description["bytes"] = driver->open(url, {}).value()->size().value();
    description["stripe_bytes"] = attributes.place.stripe_bytes;
    for (const wire::ServerPlace& slot : attributes.place.slots) {
      description["servers"].push_back({{"index", slot.index}, {"address", slot.address}});
    }
  }
  return description;
}

int run(const std::string& url, bool as_json) {
  const json description = describe(url);
  std::string text = description.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (!as_json) {
    text = fmt::format("{}: a {} made {}\n", url, description["directory"] ? "directory" : "file",
                       description["made"].get<std::string>());
    if (!description["directory"]) {
      text += fmt::format("  {} bytes in stripes of {} on {} servers:", description["bytes"].get<int64_t>(),
                          readable(description["stripe_bytes"].get<int64_t>()), description["servers"].size());
      for (const json& server : description["servers"]) {
        text += " " + server["address"].get<std::string>();
      }
      text += "\n";
    }
  }
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void add_stat(CLI::App& app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("stat", "what a store knows about a file: size, stripes, servers");
  command->add_option("path", *path, "stria://SERVER/PATH")->required();
  command->add_flag("--json", *as_json, "answer in JSON");
  command->callback([=, &action] { action = [=](MPI_Comm) { return run(*path, *as_json); }; });
}

}  // namespace stria::tool
