#include "store/moves/move_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "report/text.hpp"
#include "store/moves/evacuate.hpp"
#include "store/moves/part_mover.hpp"
#include "store/progress.hpp"

namespace stria::tool {

namespace {

constexpr int64_t kMegabyte = 1000000;
constexpr size_t kMostTold = 10;  // the parts that stay
constexpr std::chrono::seconds kBetweenRounds{1};
// A target is balanced when it has as much as the average, give or take this part of it.
constexpr int64_t kTolerancePart = 20;

struct MoveArguments {
  std::string url;
  std::string server;
  int64_t megabytes_per_second = 0;
  int64_t wait_seconds = 60;
  bool only_tells = false;
};

int64_t bytes_of(const std::vector<MovablePart>& parts) {
  int64_t bytes = 0;
  for (const MovablePart& part : parts) {
    bytes += part.bytes;
  }
  return bytes;
}

/// Moves parts one after another, and counts.
class PartMoves {
 public:
  PartMoves(const StoreAsker& asker, const MoveArguments& arguments, int64_t total_bytes)
      : asker_(asker),
        throttle_(arguments.megabytes_per_second * kMegabyte),
        progress_(total_bytes),
        mover_(asker.root().store, throttle_, [this](int64_t bytes) { progress_.say(bytes_ += bytes); }) {}

  /// Tries the servers in turn. Throws stria::Error when the manager has gone.
  Status move(const MovablePart& part, std::vector<TakingServer>& servers) {
    std::set<int64_t> refused;
    Status outcome(ErrorCode::kNoSpace, "no other server has space for it, and fewer than two parts of the file");
    for (int64_t target = target_for(part, servers); target >= 0; target = target_for(part, servers, refused)) {
      const Status tried = move_to(part, target, servers);
      if (tried.ok() || tried.code() == ErrorCode::kAborted) {
        return tried;
      }
      outcome = tried;
      refused.insert(target);
    }
    return outcome;
  }
  Status move_to(const MovablePart& part, int64_t target, std::vector<TakingServer>& servers) {
    const Status outcome = mover_.move({part.file, part.from, target});
    if (outcome.code() == ErrorCode::kIo) {  // without the manager no part can be moved
      static_cast<void>(servers_of(asker_.root(), asker_.url()));
    }
    if (outcome.ok()) {
      ++parts_;
      const auto taker = std::find_if(servers.begin(), servers.end(), [&](const auto& each) { return each.index == target; });
      taker->free_bytes -= part.bytes;
    }
    return outcome;
  }
  int64_t parts() const { return parts_; }
  int64_t bytes() const { return bytes_; }
  std::string said() const { return fmt::format("{} moved, {}", counted_text(parts_, "part"), readable(bytes_)); }

 private:
  const StoreAsker& asker_;
  Throttle throttle_;
  Progress progress_;
  int64_t bytes_ = 0;
  int64_t parts_ = 0;
  PartMover mover_;
};

/// Does it. An error that ends it says how far it was, and how to go on.
template <typename Body>
int with_account(const PartMoves& moves, const std::string& command, Body body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; {} before that, and each other part is where it was: repeat '{}'", error.what(),
                                          moves.said(), command));
  }
}

/// Says why parts stay, with the names of some files.
void tell_left(const StoreAsker& asker, const std::map<uint64_t, Status>& left) {
  wire::PartsOf question;
  for (const auto& [part, why] : left) {
    if (question.files.size() < kMostTold) {
      question.files.push_back(part);
    }
  }
  const auto answer = asker.manager<wire::Paths>(wire::Kind::kPaths, question);
  for (size_t i = 0; i < question.files.size(); ++i) {
    const std::string& path = answer.paths.at(i);
    const std::string name = path.empty() ? fmt::format("{:016x}", wire::file_of_part(question.files[i])) : path;
    fmt::print(stderr, "stria: {}: {}\n", name, left.at(question.files[i]).message());
  }
  if (left.size() > question.files.size()) {
    fmt::print(stderr, "stria: and {} more\n", left.size() - question.files.size());
  }
}

/// Moves until none is left, or none of those that are left moves. Returns why those stay.
std::map<uint64_t, Status> move_all(const StoreMap& map, const wire::ServerPlace& server, std::vector<MovablePart> parts,
                                    const MoveArguments& arguments, PartMoves& moves) {
  std::map<uint64_t, Status> left;
  auto last_moved = std::chrono::steady_clock::now();
  while (!parts.empty()) {
    left.clear();
    std::vector<TakingServer> servers = map.taking_servers();
    const int64_t before = moves.parts();
    bool waits = false;
    for (const MovablePart& part : parts) {
      const Status outcome = moves.move(part, servers);
      if (!outcome.ok() && outcome.code() != ErrorCode::kNotFound) {
        left.emplace(part.number(), outcome);
        // What is in use now may not be later, and what is written to a full server may be removed.
        waits = waits || outcome.code() == ErrorCode::kAborted || outcome.code() == ErrorCode::kIo;
      }
    }
    const auto now = std::chrono::steady_clock::now();
    last_moved = moves.parts() > before ? now : last_moved;
    if (!left.empty() && (!waits || now - last_moved > std::chrono::seconds(arguments.wait_seconds))) {
      break;
    }
    if (!left.empty()) {
      std::this_thread::sleep_for(kBetweenRounds);
    }
    parts = map.parts_on(server);
  }
  return left;
}

int run_drain_server(const MoveArguments& arguments) {
  const wire::ServerPlace server = find_server(arguments.url, arguments.server);
  if (server.address.empty()) {
    throw Error(ErrorCode::kIo, fmt::format("server {} is gone: what isn't there can't be moved", server.index));
  }
  const StoreAsker asker(arguments.url);
  if (has_ended(server.index, conditions_of(asker.root(), arguments.url))) {
    throw Error(ErrorCode::kIo,
                fmt::format("server {} ({}) has ended: start it, and drain it then", server.index, server.address));
  }
  const StoreMap map(asker);
  // Files that are made from now on lie elsewhere, so there is an end.
  static_cast<void>(asker.manager<wire::Nothing>(wire::Kind::kNewFiles, wire::NewFiles{server.index, false}));
  std::vector<MovablePart> parts = map.parts_on(server);
  PartMoves moves(asker, arguments, bytes_of(parts));
  return with_account(moves, fmt::format("stria server drain {} {}", arguments.url, server.index), [&] {
    const std::map<uint64_t, Status> left = move_all(map, server, std::move(parts), arguments, moves);
    fmt::print("{}\n", moves.said());
    if (!left.empty()) {
      tell_left(asker, left);
      fmt::print("server {} ({}) has {} still, and gets no new files\n", server.index, server.address,
                 counted_text(static_cast<int64_t>(left.size()), "part"));
      return kAnswerIsNo;
    }
    fmt::print("server {} ({}) has no part of a file, and gets no new files: 'stria retire {} {}' takes it out of the store\n",
               server.index, server.address, arguments.url, server.index);
    return kDone;
  });
}

struct ServerLoad {
  wire::ServerPlace server;
  std::vector<MovablePart> parts;
  int64_t bytes = 0;
};

/// Those that are up and take new files, the fullest first.
std::vector<ServerLoad> loads_of(const StoreAsker& asker, const StoreMap& map, const std::vector<TakingServer>& servers) {
  std::vector<ServerLoad> loads;
  for (const auto& server : servers_of(asker.root(), asker.url()).servers) {
    const bool takes =
        std::any_of(servers.begin(), servers.end(), [&](const auto& each) { return each.index == server.place.index; });
    if (takes) {
      loads.push_back({server.place, map.parts_on(server.place), 0});
      loads.back().bytes = bytes_of(loads.back().parts);
    }
  }
  return loads;
}

struct Balance {
  MovablePart part;
  int64_t target = 0;
};

/// Moves from servers above the average to those below it, large parts first; none makes a server
/// the one that is above.
std::vector<Balance> balance(std::vector<ServerLoad> loads) {
  int64_t total = 0;
  for (const ServerLoad& load : loads) {
    total += load.bytes;
  }
  const int64_t average = loads.empty() ? 0 : total / static_cast<int64_t>(loads.size());
  const int64_t tolerance = average / kTolerancePart;
  std::vector<Balance> plan;
  for (ServerLoad& source : loads) {
    std::sort(source.parts.begin(), source.parts.end(),
              [](const MovablePart& one, const MovablePart& other) { return one.bytes > other.bytes; });
    for (const MovablePart& part : source.parts) {
      if (source.bytes <= average + tolerance) {
        break;
      }
      std::vector<TakingServer> wanting;
      for (const ServerLoad& load : loads) {
        const bool lacks = load.bytes < average - tolerance && load.bytes + part.bytes <= average + tolerance;
        const bool has_one = std::any_of(part.places.begin(), part.places.end(),
                                         [&](int64_t place) { return wire::server_of(place) == load.server.index; });
        if (lacks && !has_one && part.bytes > 0) {
          wanting.push_back({load.server.index, total - load.bytes});
        }
      }
      const int64_t target = target_for(part, wanting);
      if (target < 0) {
        continue;
      }
      plan.push_back({part, target});
      source.bytes -= part.bytes;
      const auto taker =
          std::find_if(loads.begin(), loads.end(), [&](const auto& load) { return load.server.index == target; });
      taker->bytes += part.bytes;
    }
  }
  return plan;
}

int run_rebalance(const MoveArguments& arguments) {
  const StoreAsker asker(arguments.url);
  const StoreMap map(asker);
  std::vector<TakingServer> servers = map.taking_servers();
  const std::vector<Balance> plan = balance(loads_of(asker, map, servers));
  int64_t bytes = 0;
  for (const Balance& move : plan) {
    bytes += move.part.bytes;
  }
  if (arguments.only_tells) {
    fmt::print("{} of {} would move\n", counted_text(static_cast<int64_t>(plan.size()), "part"), readable(bytes));
    return kDone;
  }
  PartMoves moves(asker, arguments, bytes);
  return with_account(moves, fmt::format("stria server rebalance {}", arguments.url), [&] {
    std::map<uint64_t, Status> left;
    // Another part of the same file moves in the next run, by where the file is then.
    std::set<uint64_t> moved_files;
    for (const Balance& move : plan) {
      if (!moved_files.insert(move.part.file).second) {
        continue;
      }
      const Status outcome = moves.move_to(move.part, move.target, servers);
      if (!outcome.ok() && outcome.code() != ErrorCode::kNotFound) {
        left.emplace(move.part.number(), outcome);
      }
    }
    fmt::print("{}\n", moves.said());
    if (left.empty()) {
      return kDone;
    }
    tell_left(asker, left);
    return kAnswerIsNo;
  });
}

void add_common(Command command, MoveArguments& arguments) {
  command.add_option("store", arguments.url, "stria://SERVER").required();
  command.add_option("--rate", arguments.megabytes_per_second, "move at most so many MB a second").check(positive());
}

}  // namespace

void add_drain_server(Command server, Action& action) {
  auto arguments = std::make_shared<MoveArguments>();
  Command command =
      server.add_subcommand("drain", "move its parts of files to other servers, while programs use them; it gets no new files");
  add_common(command, *arguments);
  command.add_option("server", arguments->server, "its number or its address, as df shows them").required();
  command.add_option("--wait", arguments->wait_seconds, "seconds to wait for files that are in use, as long as none moves")
      .check(not_negative());
  command.callback([=, &action] { action = [=](Ranks&) { return run_drain_server(*arguments); }; });
}

void add_rebalance(Command server, Action& action) {
  auto arguments = std::make_shared<MoveArguments>();
  Command command =
      server.add_subcommand("rebalance", "move parts of files to servers that have less, as to one that has joined");
  add_common(command, *arguments);
  command.add_flag("--dry-run", arguments->only_tells, "only say how much would move");
  command.callback([=, &action] { action = [=](Ranks&) { return run_rebalance(*arguments); }; });
}

}  // namespace stria::tool
