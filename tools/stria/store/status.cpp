// stria status: the state of a store's servers: load, queues, errors, space; once or
// again and again.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "folded.hpp"
#include "storage/striped/call.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using Figures = std::map<std::string, int64_t>;

constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::chrono::seconds kLongestWait{60};
constexpr std::chrono::milliseconds kBetweenLooks{200};

struct StatusArguments {
  std::string url;
  bool as_json = false;
  double watch_seconds = 0;
  int64_t times = 0;     // 0: until the user ends it
  int64_t wait_for = 0;  // so many servers
};

struct ServerState {
  wire::StoreServers::Entry known;
  std::string trouble;  // why the server gave no figures
  Figures figures;

  int64_t operator[](const std::string& name) const {
    const auto found = figures.find(name);
    return found == figures.end() ? 0 : found->second;
  }
  /// Returns the sum of all figures of that name, whatever their label.
  int64_t sum(const std::string& name) const {
    int64_t sum = 0;
    for (auto each = figures.lower_bound(name + "{"); each != figures.end() && each->first.starts_with(name + "{"); ++each) {
      sum += each->second;
    }
    return sum;
  }
};

struct Moment {
  std::chrono::steady_clock::time_point when = std::chrono::steady_clock::now();
  std::vector<ServerState> servers;
  Conditions conditions;

  bool is_well(const ServerState& server) const { return server.trouble.empty() && !has_bad_disk(server.known, conditions); }
  /// Returns ", manager" and the like; empty where it is but a server.
  std::string role_of(const ServerState& server) const {
    if (server["standby"] == 0) {
      return server["manager"] != 0 ? ", manager" : (server["manager_replaced"] != 0 ? ", was the manager" : "");
    }
    const bool in_step = std::any_of(servers.begin(), servers.end(), [](const ServerState& each) {
      return each["manager"] != 0 && each["standby_in_step"] != 0;
    });
    return in_step && server["standby_follows"] != 0 ? ", standby with every change" : ", standby that is behind";
  }
  /// Why a server gets no new files, in its own words; empty when it gets some.
  std::string reason_of(const ServerState& server) const {
    const auto found = conditions.find(server.known.place.index);
    return found == conditions.end() || found->second.condition == wire::Condition::kGood ? "" : found->second.why;
  }
};

/// Asks all servers at once. A server that doesn't answer delays this by the patience.
Moment look(const StatusArguments& arguments) {
  const StoreFile root = find_in_store(arguments.url);
  Moment moment;
  moment.conditions = conditions_of(root, arguments.url);
  std::vector<storage::Store::Borrowed> links;
  std::vector<storage::Call> calls;
  std::vector<size_t> asked;
  for (const auto& server : servers_of(root, arguments.url).servers) {
    moment.servers.push_back({server, "", {}});
    if (server.place.address.empty()) {
      moment.servers.back().trouble = "another directory answers at its address";
      continue;
    }
    asked.push_back(moment.servers.size() - 1);
    links.push_back(storage::Store::borrow(root.store, server.place.address).value());
    storage::Call& call = calls.emplace_back();
    call.link = links.back().link();
    call.kind = wire::Kind::kStatus;
    call.patience = kPatience;
  }
  static_cast<void>(storage::run_calls(calls));  // each call's own status is looked at
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto figures =
        calls[i].outcome.ok() ? wire::decode<wire::Figures>(calls[i].reply) : Result<wire::Figures>(calls[i].outcome);
    ServerState& server = moment.servers[asked[i]];
    server.trouble = figures.ok() ? "" : figures.status().message();
    for (const auto& entry : figures.ok() ? figures->entries : std::vector<wire::Figures::Entry>()) {
      server.figures[entry.name] = entry.value;
    }
  }
  moment.when = std::chrono::steady_clock::now();
  return moment;
}

std::string duration(int64_t seconds) {
  if (seconds < 120) {
    return fmt::format("{} s", seconds);
  }
  return seconds < 7200 ? fmt::format("{} min", seconds / 60)
                        : (seconds < 172800 ? fmt::format("{} h", seconds / 3600) : fmt::format("{} d", seconds / 86400));
}

/// Tells rates per second: since `before`, or since the server's start.
class Rates {
 public:
  Rates(const ServerState& now, const ServerState* before, double seconds)
      : now_(now), before_(before), seconds_(before == nullptr ? static_cast<double>(now["uptime_seconds"]) : seconds) {}
  double requests() const { return rate(now_.sum("requests_total"), before_ == nullptr ? 0 : before_->sum("requests_total")); }
  int64_t bytes(const std::string& name) const {
    return static_cast<int64_t>(rate(now_[name], before_ == nullptr ? 0 : (*before_)[name]));
  }

 private:
  double rate(int64_t now, int64_t before) const {
    // A smaller number means that the server was restarted.
    return now >= before ? static_cast<double>(now - before) / std::max(seconds_, 1e-3) : 0;
  }
  const ServerState& now_;
  const ServerState* before_;
  double seconds_;
};

/// Returns two lines for a server, so that a terminal of 80 columns has room for it.
std::string table(const Moment& now, const Moment* before) {
  constexpr size_t kIndent = 4;
  std::string text = fmt::format("{:<4}{:<22}{:>7}{:>6}{:>11}{:>9}{:>9}{:>6}{:>6}\n", "", "server", "up for", "conns",
                                 "requests/s", "write/s", "read/s", "queue", "errs");
  for (size_t i = 0; i < now.servers.size(); ++i) {
    const ServerState& server = now.servers[i];
    const std::string name = fmt::format("{:<4}{:<22}", server.known.place.index, address_of(server.known));
    if (!server.trouble.empty()) {
      text += folded(fmt::format("{}  {}; {}", name, state_of(server.known, now.conditions), server.trouble), kIndent);
      continue;
    }
    const bool comparable = before != nullptr && i < before->servers.size() && before->servers[i].trouble.empty();
    const double seconds = comparable ? std::chrono::duration<double>(now.when - before->when).count() : 0;
    const Rates rates(server, comparable ? &before->servers[i] : nullptr, seconds);
    const int64_t queue = server["disk_queue"] + server["manager_queue"] + server["buffers_waiting"] +
                          server["message_bytes_waiting"] + server["description_bytes_waiting"];
    text += fmt::format("{}{:>7}{:>6}{:>11.1f}{:>9}{:>9}{:>6}{:>6}\n", name, duration(server["uptime_seconds"]),
                        server["connections"], rates.requests(), readable(rates.bytes("written_bytes_total")),
                        readable(rates.bytes("read_bytes_total")), queue, server.sum("errors_total"));
    text += fmt::format("{:<4}{}{}; {} of {} free\n", "", state_of(server.known, now.conditions), now.role_of(server),
                        readable(server["space_free_bytes"]), readable(server["space_bytes"]));
    if (const std::string reason = now.reason_of(server); !reason.empty()) {
      text += folded(fmt::format("{:<4}{}", "", reason), kIndent);
    }
  }
  return text;
}

json as_json(const Moment& moment) {
  json all = json::array();
  for (const ServerState& server : moment.servers) {
    json entry = {{"index", server.known.place.index},
                  {"address", server.known.place.address},
                  {"silent_ms", server.known.silent_ms},
                  {"answers", server.trouble.empty()},
                  {"state", state_of(server.known, moment.conditions)},
                  {"figures", server.figures}};
    if (const std::string role = moment.role_of(server); !role.empty()) {
      entry["role"] = role.substr(2);
    }
    if (!server.trouble.empty()) {
      entry["trouble"] = server.trouble;
    }
    if (const std::string reason = moment.reason_of(server); !reason.empty()) {
      entry["reason"] = reason;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

void show(const StatusArguments& arguments, const Moment& now, const Moment* before) {
  if (arguments.as_json) {
    fmt::print("{}\n", as_json(now).dump(arguments.watch_seconds > 0 ? -1 : 2));
  } else {
    const bool clears = arguments.watch_seconds > 0 && isatty(STDOUT_FILENO) != 0;
    fmt::print("{}{}", clears ? "\x1b[H\x1b[2J" : "", table(now, before));
  }
  std::fflush(stdout);
}

/// Returns how many servers answer; none while the manager doesn't, whose trouble is then set.
int64_t count_answers(const StatusArguments& arguments, std::string& trouble) {
  try {
    const Moment now = look(arguments);
    trouble.clear();
    return std::count_if(now.servers.begin(), now.servers.end(),
                         [](const ServerState& server) { return server.trouble.empty(); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) {
      throw;
    }
    trouble = error.what();
    return 0;
  }
}

int wait(const StatusArguments& arguments) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  std::string trouble;
  int64_t count = 0;
  while ((count = count_answers(arguments, trouble)) < arguments.wait_for) {
    if (std::chrono::steady_clock::now() > end) {
      fmt::print(stderr, "stria: {} of {} servers answer after {} s{}{}\n", count, arguments.wait_for, kLongestWait.count(),
                 trouble.empty() ? "" : ": ", trouble);
      return kAnswerIsNo;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return kDone;
}

int run_status(const StatusArguments& arguments) {
  if (arguments.wait_for > 0) {
    return wait(arguments);
  }
  Moment before;
  for (int64_t shown = 0;; ++shown) {
    Moment now = look(arguments);
    show(arguments, now, shown == 0 ? nullptr : &before);
    if (arguments.watch_seconds <= 0 || shown + 1 == arguments.times) {
      const bool all =
          std::all_of(now.servers.begin(), now.servers.end(), [&](const ServerState& server) { return now.is_well(server); });
      return all ? kDone : kAnswerIsNo;
    }
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.watch_seconds));
  }
}

}  // namespace

void add_status(Command app, Action& action) {
  auto arguments = std::make_shared<StatusArguments>();
  Command command =
      app.add_subcommand("status", "the state of a store's servers; exits 1 if one doesn't answer, or has a bad disk");
  command.add_option("store", arguments->url, "stria://SERVER").required();
  command.add_flag("--json", arguments->as_json, "answer in JSON");
  command.add_option("--watch", arguments->watch_seconds, "again every so many seconds, with the rates in between")
      .check(between(0.05, 1e6));
  command.add_option("--times", arguments->times, "so many times").check(in_range(1, 1000000000));
  command
      .add_option("--wait", arguments->wait_for, "print nothing, return as soon as so many servers answer; exits 1 after 60 s")
      .check(in_range(1, wire::kMaxServers));
  command.callback([=, &action] { action = [=](Ranks&) { return run_status(*arguments); }; });
}

}  // namespace stria::tool
