// stria quota: how much of a store users and directories may have.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "store/owners.hpp"
#include "store/store_command.hpp"
#include "wire/quotas.hpp"

namespace stria::tool {

namespace {

struct QuotaArguments {
  std::string url;
  std::string user;
  std::string space;
  int64_t files = 0;
  bool ends = false;
  bool as_json = false;
};

/// Reads "500MB", "1.5 TB", or a number of bytes.
int64_t bytes_of_space(const std::string& text) {
  size_t end = 0;
  double bytes = 0;
  try {
    bytes = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  std::string unit = text.substr(end);
  std::erase(unit, ' ');
  if (unit.ends_with('B')) {
    unit.pop_back();
  }
  constexpr std::string_view kUnits = "kMGTP";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0] == 'K' ? 'k' : unit[0]) + 1;
  const bool is_unit = unit.empty() || (unit.size() == 1 && power > 0);
  for (size_t i = 0; i < power; ++i) {
    bytes *= 1000;
  }
  if (end == 0 || !is_unit || !(bytes >= 1 && bytes < 1e18)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no space: write 500MB, 1.5TB, or a number of bytes", text));
  }
  return static_cast<int64_t>(bytes);
}

int run_set_quota(const QuotaArguments& arguments) {
  const StoreFile place = find_in_store(arguments.url);
  if (arguments.ends == (arguments.files > 0 || !arguments.space.empty())) {
    throw Error(ErrorCode::kInvalidArgument, "say how much: --space, --files or both; or --none, to end the quota");
  }
  const bool is_user = !arguments.user.empty();
  if (is_user != (place.path == "/")) {
    throw Error(ErrorCode::kInvalidArgument,
                "a quota is a directory's (stria://SERVER/DIRECTORY), or a user's in all of the store (stria://SERVER --user)");
  }
  wire::SetQuota wanted;
  wanted.kind = is_user ? wire::QuotaKind::kUser : wire::QuotaKind::kDirectory;
  wanted.uid = is_user ? user_id(arguments.user) : 0;
  wanted.path = is_user ? "" : place.path;
  wanted.bytes = arguments.space.empty() ? 0 : bytes_of_space(arguments.space);
  wanted.files = arguments.files;
  const auto reply = place.store->ask_manager(wire::Kind::kSetQuota, wire::encode(wanted));
  reply.status().with_context(arguments.url).throw_if_error();
  return kDone;
}

std::string used_text(const std::string& used, const std::string& limit, bool is_limited) {
  return is_limited ? fmt::format("{} of {}", used, limit) : used;
}

int run_show_quotas(const QuotaArguments& arguments) {
  const StoreFile place = find_in_store(arguments.url);
  const auto reply = place.store->ask_manager(wire::Kind::kQuotas, {});
  reply.status().with_context(arguments.url).throw_if_error();
  const auto list = wire::decode<wire::Quotas>(*reply).value();
  nlohmann::json all = nlohmann::json::array();
  std::string text = fmt::format("{:<32}{:<26}{}\n", "whose", "space", "files");
  for (const wire::Quotas::Entry& entry : list.entries) {
    const bool is_user = entry.account.kind == wire::QuotaKind::kUser;
    const std::string who = is_user ? user_name(static_cast<uint32_t>(entry.account.id)) : entry.path;
    text += fmt::format("{:<32}{:<26}{}\n", who,
                        used_text(readable(entry.bytes), readable(entry.bytes_limit), entry.bytes_limit > 0),
                        used_text(std::to_string(entry.files), std::to_string(entry.files_limit), entry.files_limit > 0));
    all.push_back({{is_user ? "user" : "directory", who},
                   {"bytes", entry.bytes},
                   {"bytes_limit", entry.bytes_limit},
                   {"files", entry.files},
                   {"files_limit", entry.files_limit},
                   {"counted", list.counted}});
  }
  if (list.entries.empty()) {
    text = "no quotas\n";
  } else if (!list.counted) {
    text += "Not all servers have told yet how much there is.\n";
  }
  std::fputs((arguments.as_json ? all.dump(2) + "\n" : text).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_quota(Command app, Action& action) {
  Command quota = app.add_subcommand("quota", "how much of a store users and directories may have");
  quota.require_subcommand();
  auto arguments = std::make_shared<QuotaArguments>();
  Command set = quota.add_subcommand("set", "set what a user or a directory may have");
  set.add_option("store", arguments->url, "stria://SERVER/DIRECTORY, or stria://SERVER with --user").required();
  set.add_option("--user", arguments->user, "this user's, by name or number");
  set.add_option("--space", arguments->space, "at most so many bytes: 500MB, 1.5TB");
  set.add_option("--files", arguments->files, "at most so many files").check(positive());
  set.add_flag("--none", arguments->ends, "any number of bytes and files");
  set.callback([=, &action] { action = [=](Ranks&) { return run_set_quota(*arguments); }; });
  Command show = quota.add_subcommand("show", "all quotas, and how much of them is used");
  show.add_option("store", arguments->url, "stria://SERVER").required();
  show.add_flag("--json", arguments->as_json, "answer in JSON");
  show.callback([=, &action] { action = [=](Ranks&) { return run_show_quotas(*arguments); }; });
}

}  // namespace stria::tool
