// stria ls: lists a directory of a store or a pool.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "storage/path.hpp"
#include "storage/rados/rados_driver.hpp"
#include "store/names/described_name.hpp"
#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct LsArguments {
  std::string path;
  bool details = false;
  bool as_json = false;
};

/// A name can't do anything on a terminal: bytes that terminals obey are shown as "?".
std::string shown_name(std::string name) {
  if (isatty(STDOUT_FILENO) != 0) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char byte) { return std::iscntrl(byte) != 0; }, '?');
  }
  return name;
}

std::string line_in_pool(const std::string& url, const StoreEntry& entry) {
  const storage::PoolName file = storage::look_in_pool(url).value();
  const std::string size = entry.is_directory ? "" : std::to_string(file.bytes);
  return fmt::format("{:>15}  {:>14}  {}\n", size, entry.is_directory ? "" : readable(file.object_bytes),
                     shown_name(entry.name) + (entry.is_directory ? "/" : ""));
}

/// Returns a line of what a store knows. Where a server of the file doesn't answer, it has at least
/// the bytes that the others know.
std::string line_of(const wire::LookedAll::Entry& entry, const storage::FileState& file) {
  const wire::NameState& state = entry.state;
  const std::string owner = fmt::format("{} {:>8} {:>8}", mode_text(state.kind, state.owner.mode), user_name(state.owner.uid),
                                        group_name(state.owner.gid));
  const std::string changed = file.trouble.ok() ? time_text(state.times.modified(file.modified_ns), false) : "?";
  const std::string shown = shown_name(entry.name);
  if (state.kind != wire::NameKind::kFile) {
    const std::string rest = state.is_directory() ? "/" : " -> " + shown_name(state.target);
    return fmt::format("{}  {:>9}  {:>11}  {}  {}{}\n", owner, "", "", changed, shown, rest);
  }
  return fmt::format("{}  {:>9}  {:>2}x {:>8}  {:>16}  {}\n", owner, (file.trouble.ok() ? "" : ">=") + readable(file.bytes),
                     state.servers.size(), readable(state.stripe_bytes), changed, shown);
}

std::string lines_of(const std::string& url, const wire::LookedAll& page, StateAsker& asker) {
  std::vector<wire::Opened> places;
  for (const wire::LookedAll::Entry& entry : page.entries) {
    places.push_back(wire::place_of(entry.state, page.places));
  }
  const std::vector<storage::FileState> files = asker.ask_all(url, places);
  std::string text;
  for (size_t i = 0; i < files.size(); ++i) {
    text += line_of(page.entries[i], files[i]);
  }
  return text;
}

std::string long_listing(const std::string& url, StateAsker& asker) {
  wire::Looked itself = name_itself(url);
  if (!itself.state.is_directory() && !is_directory(url)) {
    return lines_of(url, {.entries = {{url, std::move(itself.state)}}, .places = std::move(itself.places)}, asker);
  }
  const StoreFile directory = find_in_store(url);
  std::string text;
  std::string after;
  for (bool more = true; more;) {
    const auto page = storage::look_all(*directory.store, {directory.path, after});
    page.status().with_context(fmt::format("'{}'", url)).throw_if_error();
    text += lines_of(url, *page, asker);
    more = page->more && !page->entries.empty();
    after = page->entries.empty() ? "" : page->entries.back().name;
  }
  return text;
}

int run_ls(const LsArguments& arguments) {
  if (arguments.details && !arguments.as_json && !storage::is_rados_path(arguments.path)) {
    StateAsker asker;
    std::fputs(long_listing(arguments.path, asker).c_str(), stdout);
    return told_trouble(asker);
  }
  const bool of_file = !is_directory(arguments.path);
  const auto entries = of_file ? std::vector<StoreEntry>{{{arguments.path, false}}} : entries_of(arguments.path);
  std::string text;
  nlohmann::json objects = nlohmann::json::array();
  StateAsker asker;
  for (const StoreEntry& entry : entries) {
    const std::string url = of_file ? arguments.path : joined(arguments.path, entry.name);
    if (arguments.as_json) {
      const nlohmann::json brief = {{"directory", entry.is_directory}};
      objects.push_back(arguments.details ? described_name(url, asker) : brief);
      objects.back()["name"] = entry.name;
    } else {
      text += arguments.details ? line_in_pool(url, entry)
                                : shown_name(entry.name) +
                                      (entry.is_directory ? "/"
                                       : entry.is_link    ? "@"
                                                          : "") +
                                      "\n";
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
