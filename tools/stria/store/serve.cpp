// stria serve: a server of a store, or a whole store on this machine.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "server/server.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr int kLastPort = 65535;

struct ServeArguments {
  std::string directory;
  std::string listen = "127.0.0.1:7700";
  std::string join;
  bool standby = false;
  std::string advertise;
  std::string key;
  bool munge = false;
  bool encrypts = false;
  int cluster = 0;
  int64_t connections = 4096;
  int64_t buffers = 256;
  int64_t messages = 64;
  std::string metrics;
  std::string log = "auto";
  int64_t reserve = -1;  // MiB
  double slow_seconds = 10;
};

/// True when standard error goes to systemd's journal, which says so by device and inode.
bool stderr_is_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat details = {};
  return stream != nullptr && fstat(STDERR_FILENO, &details) == 0 &&
         fmt::format("{}:{}", details.st_dev, details.st_ino) == stream;
}

/// Makes a log for one server; null: none.
std::shared_ptr<server::EventLog> make_log(const std::string& form) {
  using Form = server::EventLog::Form;
  if (form == "off") {
    return nullptr;
  }
  const bool journal = form == "journal" || (form == "auto" && stderr_is_journal());
  return std::make_shared<server::EventLog>(journal          ? Form::kJournal
                                            : form == "json" ? Form::kJson
                                                             : Form::kText,
                                            server::to_descriptor(STDERR_FILENO));
}

server::ServerOptions options_of(const ServeArguments& arguments) {
  server::ServerOptions options;
  options.directory = arguments.directory;
  options.listen = arguments.listen;
  options.join = arguments.join;
  options.standby = arguments.standby;
  options.advertise = arguments.advertise;
  options.bounds.connections = static_cast<size_t>(arguments.connections);
  options.bounds.buffers = static_cast<size_t>(arguments.buffers);
  options.bounds.message_bytes = arguments.messages << 20;
  options.bounds.description_bytes = 2 * options.bounds.message_bytes;
  options.metrics = arguments.metrics;
  options.key = arguments.key.empty() ? wire::Key::from_environment().value() : wire::Key::load(arguments.key).value();
  if (arguments.munge) {
    const auto munge = wire::Munge::load();
    munge.status().with_context("--munge").throw_if_error();
    options.munge = *munge;
  }
  options.encrypts = arguments.encrypts;
  options.watch.log = make_log(arguments.log);
  options.watch.reserve_bytes = arguments.reserve < 0 ? -1 : arguments.reserve << 20;
  constexpr double kMsOfSecond = 1000;
  options.watch.slow = std::chrono::milliseconds(static_cast<int64_t>(arguments.slow_seconds * kMsOfSecond));
  return options;
}

/// Returns the signals that end a server. All threads block them, so that waiting for them is
/// enough.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

bool is_pending(const sigset_t& signals) {
  sigset_t now;
  sigemptyset(&now);
  sigpending(&now);
  return (sigismember(&signals, SIGTERM) == 1 && sigismember(&now, SIGTERM) == 1) ||
         (sigismember(&signals, SIGINT) == 1 && sigismember(&now, SIGINT) == 1);
}

using Servers = std::vector<std::unique_ptr<server::Server>>;

/// Returns the address of server `i` of a cluster whose first one has the given address: the next
/// ports, or sockets. So a cluster that is started again is found by those who have its files open.
std::string address_after(const std::string& first, int i) {
  wire::Address address = wire::Address::parse(first).value();
  if (address.is_unix) {
    address.host += fmt::format(".{}", i);
  } else if (const int port = std::stoi(address.port); port != 0) {
    address.port = std::to_string(port + i <= kLastPort ? port + i : 0);
  }
  return address.text();
}

/// Starts it on any port, where its own is another program's.
std::unique_ptr<server::Server> start_member(server::ServerOptions options) {
  auto started = server::Server::start(options);
  if (!started.ok() && started.status().code() == ErrorCode::kAlreadyExists) {
    wire::Address address = wire::Address::parse(options.listen).value();
    address.port = "0";
    options.listen = address.text();
    started = server::Server::start(options);
  }
  return std::move(started).value();
}

Servers start_cluster(const ServeArguments& arguments, const server::ServerOptions& first) {
  Servers servers;
  for (int i = 0; i < arguments.cluster; ++i) {
    server::ServerOptions options = first;
    options.directory = fmt::format("{}/{}", arguments.directory, i);
    if (i == 0) {
      servers.push_back(server::Server::start(options).value());
      continue;
    }
    options.join = servers[0]->address();
    options.watch.log = make_log(arguments.log);
    options.listen = address_after(first.listen, i);
    options.advertise = first.advertise.empty() ? "" : address_after(first.advertise, i);
    options.metrics.clear();
    servers.push_back(start_member(options));
  }
  return servers;
}

int run_serve(const ServeArguments& arguments) {
  if (arguments.cluster > 0 && !arguments.join.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "a cluster (--cluster) is a store of its own: it can't join another (--join)");
  }
  if (arguments.standby && arguments.join.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "a standby (--standby) stands by a manager: name it by --join HOST:PORT");
  }
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  server::ServerOptions options = options_of(arguments);
  options.gives_up = [&signals] { return is_pending(signals); };
  Servers servers;
  if (arguments.cluster > 0) {
    servers = start_cluster(arguments, options);
    fmt::print("stria://{}\n", servers[0]->address());
  } else {
    auto started = server::Server::start(options);
    if (!started.ok() && is_pending(signals)) {
      fmt::print(stderr, "stria: {}\n", started.status().message());
      return kDone;
    }
    servers.push_back(std::move(started).value());
    fmt::print("{}{}\n", arguments.join.empty() ? "stria://" : "server ", servers[0]->address());
  }
  std::fflush(stdout);
  if (!arguments.metrics.empty()) {
    fmt::print(stderr, "stria: figures for Prometheus at http://{}/metrics\n", servers[0]->metrics_address());
  }
  const bool knows_clients = options.key != nullptr || options.munge != nullptr;
  fmt::print(stderr, "stria: serving '{}'{}; Ctrl-C or SIGTERM ends it\n", arguments.directory,
             knows_clients ? "" : " to programs of this machine only, as there is no key (--key)");
  int signal = 0;
  sigwait(&signals, &signal);
  while (!servers.empty()) {  // the manager last, so that the others can sign off
    servers.pop_back();
  }
  fmt::print(stderr, "stria: ended\n");
  return kDone;
}

}  // namespace

void add_serve(Command app, Action& action) {
  auto arguments = std::make_shared<ServeArguments>();
  Command command = app.add_subcommand("serve", "keep files for others: a server of a store (docs/servers.md)");
  command.add_option("--dir", arguments->directory, "where it keeps them: an empty directory, or a store's")
      .required()
      .check(not_empty());
  command.add_option("--listen", arguments->listen, "host:port or unix:/path; port 0: one that is free").show_default();
  command.add_option("--join", arguments->join,
                     "the manager's address, or a list with its standby's (a:7700,b:7700); without it this server is one");
  command.add_flag("--standby", arguments->standby,
                   "keep every change of the names as well, so that 'stria promote' can make it the manager");
  command.add_option("--advertise", arguments->advertise,
                     "the address that clients are told; needed where --listen is every address (0.0.0.0)");
  command.add_option("--key", arguments->key, "the file with the cluster's key (or STRIA_KEY_FILE)");
  command.add_flag("--munge", arguments->munge, "clients without a key prove by MUNGE who they are");
  command.add_flag("--encrypt", arguments->encrypts, "encrypt what goes through TCP; clients that don't are refused");
  command.add_option("--cluster", arguments->cluster, "a store of so many servers in this process").check(in_range(1, 64));
  command.add_option("--connections", arguments->connections, "at most").check(in_range(1, 1000000)).show_default();
  command.add_option("--buffers", arguments->buffers, "of 256 KiB, for data on their way")
      .check(in_range(4, 1000000))
      .show_default();
  command.add_option("--messages", arguments->messages, "MiB for requests, and twice that for datatypes taken apart")
      .check(in_range(2, 1000000))
      .show_default();
  command.add_option("--metrics", arguments->metrics, "host:port of a page for Prometheus (with --cluster: of the first)");
  command
      .add_option(
          "--log", arguments->log,
          "events on standard error: text, journal (levels for systemd), json, off; auto: journal under systemd, else text")
      .check(one_of({"auto", "text", "journal", "json", "off"}))
      .show_default();
  command
      .add_option("--reserve", arguments->reserve,
                  "MiB: with less free it gets no new files while others can take them (a 64th of the disk, at most 1024)")
      .check(in_range(0, int64_t{1} << 40));
  command.add_option("--slow", arguments->slow_seconds, "seconds: a request that takes longer is an event")
      .check(between(0.001, 1e6))
      .show_default();
  command.callback([=, &action] { action = [=](Ranks&) { return run_serve(*arguments); }; });
}

}  // namespace stria::tool
