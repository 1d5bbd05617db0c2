// stria stat: what a store or a pool knows about a file.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "storage/rados/rados_driver.hpp"
#include "storage/rados_path.hpp"
#include "store/described_name.hpp"
#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

json describe_in_pool(const std::string& url) {
  const storage::PoolName name = storage::look_in_pool(url).value();
  json description = {{"path", url}, {"directory", name.is_directory}};
  if (!name.is_directory) {
    description["bytes"] = name.bytes;
    description["object_bytes"] = name.object_bytes;
  }
  return description;
}

std::string pool_text(const std::string& url, const json& description) {
  if (description["directory"]) {
    return fmt::format("{}: a directory\n", url);
  }
  return fmt::format("{}: a file\n  {} bytes in objects of {}\n", url, description["bytes"].get<int64_t>(),
                     readable(description["object_bytes"].get<int64_t>()));
}

json describe(const std::string& url, StateAsker& asker) {
  const wire::Attributes attributes = attributes_of(url);
  json description = {{"path", url},
                      {"directory", attributes.is_directory},
                      {"mode", fmt::format("{:04o}", attributes.owner.mode)},
                      {"uid", attributes.owner.uid},
                      {"gid", attributes.owner.gid},
                      {"made", time_text(attributes.created_ns, true)}};
  if (!attributes.is_directory) {
    const auto state = asker.ask(url, attributes.place);
    description["bytes"] = state ? json(state->bytes) : json();
    description["modified"] = state ? json(time_text(std::max(state->modified_ns, attributes.created_ns), true)) : json();
    description["file"] = fmt::format("{:016x}", attributes.place.file);
    description["stripe_bytes"] = attributes.place.stripe_bytes;
    for (const wire::ServerPlace& slot : attributes.place.slots) {
      description["servers"].push_back({{"index", slot.index}, {"address", slot.address}});
    }
  }
  return description;
}

std::string store_text(const std::string& url, const json& description) {
  std::string text = fmt::format("{}: a {} made {}\n", url, description["directory"] ? "directory" : "file",
                                 description["made"].get<std::string>());
  text += fmt::format("  mode {}, user {}, group {}\n", description["mode"].get<std::string>(),
                      user_name(description["uid"].get<uint32_t>()), group_name(description["gid"].get<uint32_t>()));
  if (!description["directory"]) {
    const json& modified = description["modified"];
    text += fmt::format("  changed {}\n", modified.is_null() ? "?" : modified.get<std::string>());
    text += fmt::format(
        "  {} bytes in stripes of {} on {} servers:", description["bytes"].is_null() ? "?" : description["bytes"].dump(),
        readable(description["stripe_bytes"].get<int64_t>()), description["servers"].size());
    for (const json& server : description["servers"]) {
      const auto address = server["address"].get<std::string>();
      text += " " + (address.empty() ? "(gone)" : address);
    }
    text += "\n";
  }
  return text;
}

int run_stat(const std::string& url, bool as_json) {
  const bool in_pool = storage::is_rados_path(url);
  StateAsker asker;
  const json description = described_name(url, asker);
  std::string text = description.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (!as_json) {
    text = in_pool ? pool_text(url, description) : store_text(url, description);
  }
  std::fputs(text.c_str(), stdout);
  return told_trouble(asker);
}

}  // namespace

json described_name(const std::string& url, StateAsker& asker) {
  return storage::is_rados_path(url) ? describe_in_pool(url) : describe(url, asker);
}

std::string time_text(int64_t ns, bool with_seconds) {
  const std::tm time = fmt::localtime(ns / 1000000000);
  return with_seconds ? fmt::format("{:%Y-%m-%d %H:%M:%S}", time) : fmt::format("{:%Y-%m-%d %H:%M}", time);
}

void add_stat(Command app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  Command command = app.add_subcommand("stat", "what a store or a pool knows about a file: size, stripes, servers");
  command.add_option("path", *path, "stria://SERVER/PATH or rados://POOL/PATH").required();
  command.add_flag("--json", *as_json, "answer in JSON");
  command.callback([=, &action] { action = [=](Ranks&) { return run_stat(*path, *as_json); }; });
}

}  // namespace stria::tool
