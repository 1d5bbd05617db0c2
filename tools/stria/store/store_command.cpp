#include "store/store_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/shown_path.hpp"
#include "storage/path.hpp"
#include "storage/rados/rados_driver.hpp"
#include "storage/rados/rados_path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::tool {

bool runs_alone(const std::string& subcommand) {
  constexpr std::array<std::string_view, 21> kAlone{"serve",  "ls",     "cp",     "rm",    "mv",    "mkdir",  "stat",
                                                    "df",     "scrub",  "chmod",  "chown", "key",   "status", "mount",
                                                    "retire", "server", "backup", "fsck",  "drain", "quota",  "promote"};
  return std::find(kAlone.begin(), kAlone.end(), subcommand) != kAlone.end();
}

StoreFile find_in_store(const std::string& url) {
  const wire::StorePath parsed = wire::StorePath::parse(url).value();
  return {storage::Store::at(parsed.server).value(), parsed.path};
}

wire::Attributes attributes_of(const std::string& url) {
  const StoreFile file = find_in_store(url);
  const auto reply = file.store->ask_manager(wire::Kind::kStat, wire::encode(wire::Path{file.path}));
  reply.status().with_context(fmt::format("'{}'", shown_path(url))).throw_if_error();
  return wire::decode<wire::Attributes>(*reply).value();
}

void set_ownership(const std::string& url, wire::SetOwnership change) {
  const StoreFile file = find_in_store(url);
  change.path = file.path;
  const auto reply = file.store->ask_manager(wire::Kind::kSetOwnership, wire::encode(change));
  reply.status().with_context(fmt::format("'{}'", shown_path(url))).throw_if_error();
}

wire::StoreServers servers_of(const StoreFile& file, const std::string& url) {
  const auto reply = file.store->ask_manager(wire::Kind::kServers, {});
  reply.status().with_context(url).throw_if_error();
  return wire::decode<wire::StoreServers>(*reply).value();
}

namespace {

constexpr std::chrono::milliseconds kShortPatience{2000};

}  // namespace

std::vector<storage::FileState> StateAsker::ask_all(const std::string& url, std::span<const wire::Opened> places) {
  asker_.patience = kShortPatience;
  std::vector<storage::FileState> states = states_of_files(find_in_store(url).store, places, asker_);
  for (const storage::FileState& state : states) {
    if (!state.trouble.ok() && trouble_.empty()) {
      trouble_ = state.trouble.with_context(fmt::format("'{}'", shown_path(url))).message();
    }
  }
  return states;
}

int told_trouble(const StateAsker& asker) {
  if (asker.trouble().empty()) {
    return kDone;
  }
  std::fflush(stdout);
  fmt::print(stderr, "stria: {}\n", asker.trouble());
  return kAnswerIsNo;
}

std::string address_of(const wire::StoreServers::Entry& server) {
  return server.place.address.empty() ? "(gone)" : server.place.address;
}

wire::ServerPlace find_server(const std::string& url, const std::string& name) {
  for (const auto& server : servers_of(find_in_store(url), url).servers) {
    if (server.place.address == name || std::to_string(server.place.index) == name) {
      return server.place;
    }
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' has no server '{}': name one by its number or its address, as 'stria df' shows them", url, name));
}

Conditions conditions_of(const StoreFile& file, const std::string& url) {
  Conditions conditions;
  const auto told = storage::ask_conditions(*file.store);
  told.status().with_context(url).throw_if_error();
  for (const auto& entry : told->entries) {
    conditions.emplace(entry.server, entry);
  }
  return conditions;
}

namespace {

bool is_heard(const wire::StoreServers::Entry& server) {
  constexpr int64_t kSilentMs = 10000;
  return server.silent_ms >= 0 && server.silent_ms < kSilentMs;
}

/// Returns what holds while it is up; an old word of a server that is silent says nothing.
wire::Conditions::Entry condition_of(const wire::StoreServers::Entry& server, const Conditions& conditions) {
  const auto found = conditions.find(server.place.index);
  wire::Conditions::Entry condition = found == conditions.end() ? wire::Conditions::Entry() : found->second;
  if (!is_heard(server) && condition.condition != wire::Condition::kLeaving) {
    condition.condition = wire::Condition::kGood;
  }
  return condition;
}

}  // namespace

bool has_ended(int64_t server, const Conditions& conditions) {
  const auto found = conditions.find(server);
  return found != conditions.end() && found->second.condition == wire::Condition::kLeaving;
}

bool has_bad_disk(const wire::StoreServers::Entry& server, const Conditions& conditions) {
  const wire::Condition condition = condition_of(server, conditions).condition;
  return condition == wire::Condition::kReadOnly || condition == wire::Condition::kFailing;
}

std::string state_of(const wire::StoreServers::Entry& server, const Conditions& conditions) {
  const auto condition = condition_of(server, conditions);
  std::string state = is_heard(server)       ? "up"
                      : server.silent_ms < 0 ? "not heard of"
                                             : fmt::format("silent for {} s", server.silent_ms / 1000);
  if (condition.condition == wire::Condition::kLeaving) {
    state = "ended";
  } else if (condition.condition != wire::Condition::kGood) {
    state += fmt::format(", {}", condition_name(condition.condition));
  }
  return state + (condition.closed ? ", no new files" : "");
}

bool is_root(const std::string& url) {
  return storage::is_rados_path(url) ? storage::RadosPath::parse(url).value().name.empty() : find_in_store(url).path == "/";
}

bool is_directory(const std::string& url) {
  return storage::is_rados_path(url) ? storage::look_in_pool(url).value().is_directory : attributes_of(url).is_directory;
}

void remove_name(const std::string& url) {
  static_cast<void>(is_root(url));  // nothing of this machine
  storage::make_driver("posix").value()->remove(url).throw_if_error();
}

wire::Looked name_itself(const std::string& url) {
  const StoreFile name = find_in_store(url);
  const auto looked = storage::look(*name.store, {name.path, false});
  looked.status().with_context(fmt::format("'{}'", shown_path(url))).throw_if_error();
  return *looked;
}

namespace {

/// Lists the names as a server tells them that knows of no links, or of a directory that may be
/// read but not entered.
std::vector<StoreEntry> names_alone(const StoreFile& directory, const std::string& url) {
  std::vector<StoreEntry> entries;
  wire::Listed part;
  do {
    const std::string after = entries.empty() ? "" : entries.back().name;
    const auto reply = directory.store->ask_manager(wire::Kind::kList, wire::encode(wire::List{directory.path, after}));
    reply.status().with_context(fmt::format("'{}'", shown_path(url))).throw_if_error();
    part = wire::decode<wire::Listed>(*reply).value();
    for (const wire::Listed::Entry& entry : part.entries) {
      entries.push_back({entry});
    }
  } while (part.more && !part.entries.empty());
  return entries;
}

}  // namespace

std::vector<StoreEntry> entries_of(const std::string& url) {
  std::vector<StoreEntry> entries;
  if (storage::is_rados_path(url)) {
    for (const storage::PoolEntry& entry : storage::list_pool_directory(url).value()) {
      entries.push_back({{entry.name, entry.is_directory}});
    }
    return entries;
  }
  const StoreFile directory = find_in_store(url);
  wire::LookedAll part;
  do {
    const auto page = storage::look_all(*directory.store, {directory.path, entries.empty() ? "" : entries.back().name});
    const ErrorCode code = page.status().code();
    if (code == ErrorCode::kPermissionDenied || code == ErrorCode::kUnsupported) {
      return names_alone(directory, url);
    }
    page.status().with_context(fmt::format("'{}'", shown_path(url))).throw_if_error();
    part = *page;
    for (const wire::LookedAll::Entry& entry : part.entries) {
      entries.push_back({{entry.name, entry.state.is_directory()}, entry.state.kind == wire::NameKind::kLink});
    }
  } while (part.more && !part.entries.empty());
  return entries;
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

}  // namespace stria::tool
