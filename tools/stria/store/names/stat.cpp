// stria stat: what a store or a pool knows about a file.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>

#include "storage/path.hpp"
#include "storage/rados/rados_driver.hpp"
#include "store/names/described_name.hpp"
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
  const wire::Looked looked = name_itself(url);
  const wire::NameState& state = looked.state;
  json description = {{"path", url},
                      {"directory", state.is_directory()},
                      {"mode", fmt::format("{:04o}", state.owner.mode)},
                      {"uid", state.owner.uid},
                      {"gid", state.owner.gid},
                      {"made", time_text(state.times.created_ns, true)}};
  if (state.kind == wire::NameKind::kLink) {
    description["link_to"] = state.target;
  }
  if (state.kind == wire::NameKind::kFile) {
    const wire::Opened place = wire::place_of(state, looked.places);
    const storage::FileState file = asker.ask(url, place);
    const bool known = file.trouble.ok();
    description["bytes"] = known ? json(file.bytes) : json();
    if (!known) {
      description["bytes_at_least"] = file.bytes;
    }
    description["names"] = state.names;
    description["modified"] = known ? json(time_text(state.times.modified(file.modified_ns), true)) : json();
    description["file"] = fmt::format("{:016x}", state.number);
    description["stripe_bytes"] = state.stripe_bytes;
    for (const wire::ServerPlace& slot : place.slots) {
      description["servers"].push_back({{"index", slot.index}, {"address", slot.address}});
    }
  }
  return description;
}

std::string store_text(const std::string& url, const json& description) {
  const bool is_link = description.contains("link_to");
  const std::string kind = is_link                    ? "symbolic link to " + description["link_to"].get<std::string>() + ","
                           : description["directory"] ? "directory"
                                                      : "file";
  std::string text = fmt::format("{}: a {} made {}\n", url, kind, description["made"].get<std::string>());
  text += fmt::format("  mode {}, user {}, group {}\n", description["mode"].get<std::string>(),
                      user_name(description["uid"].get<uint32_t>()), group_name(description["gid"].get<uint32_t>()));
  if (!description["directory"] && !is_link) {
    const json& modified = description["modified"];
    text += fmt::format("  changed {}\n", modified.is_null() ? "?" : modified.get<std::string>());
    text += fmt::format(
        "  {} bytes in stripes of {} on {} servers:",
        description["bytes"].is_null() ? "at least " + description["bytes_at_least"].dump() : description["bytes"].dump(),
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
