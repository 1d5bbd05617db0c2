#include "server/server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <future>
#include <list>
#include <thread>
#include <vector>

#include "server/connections/connection.hpp"
#include "server/connections/metrics_page.hpp"
#include "server/connections/network/listener.hpp"
#include "server/connections/resources/background.hpp"
#include "server/connections/resources/io_threads.hpp"
#include "server/descriptors.hpp"
#include "server/joining.hpp"
#include "server/manager_elsewhere.hpp"
#include "server/objects/store_directory.hpp"
#include "server/standby_duty.hpp"
#include "server/succession_duty.hpp"
#include "server/usage_teller.hpp"
#include "storage/striped/call.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{250};
constexpr int kTicksToPulse = 4;
// Once the server runs, the next pulse comes soon.
constexpr milliseconds kPulsePatience{1000};
// One that waits for its manager is to end soon when it is told to.
constexpr milliseconds kJoinPatience{3000};
// The manager may have ended before.
constexpr milliseconds kSignOffPatience{300};
constexpr milliseconds kAfterFailedAccept{50};
// A connection that was just busy or has just come isn't closed for another.
constexpr milliseconds kLeastIdle{250};

/// What a server asks of its own manager.
const Caller kItself{.user = {}, .trusted = true, .is_super = true};

/// Refuses a manager that was replaced, and notes one that is newer than what is known.
Status follow_epoch(uint64_t epoch, RoleRecord& role, ManagerElsewhere& manager) {
  if (epoch < role.epoch()) {
    return manager.refuse(epoch);
  }
  return epoch == role.epoch() ? Status() : role.note({.epoch = epoch}, manager.address());
}

}  // namespace

struct Server::State {
  State(const ServerOptions& given, StoreDirectory taken) : options(given), directory(std::move(taken)) {}

  Status prepare();
  Connect connect_to() const;
  Result<std::unique_ptr<Manager>> open_manager(std::vector<wire::Identity> away) const;
  Status prepare_manager();
  Status prepare_joined();
  asio::awaitable<void> accept(asio::posix::stream_descriptor& door);
  void welcome(int accepted);
  bool make_room();
  void open_doors();
  void start_threads();
  /// Waits until the manager knows this server; `first` is what the first attempt came to.
  Status wait_to_join(const Status& first);
  void tell_of_start() const;
  void stop();
  void keep_time();
  /// Does what is to be done every second.
  void tend();
  void forget_finished();
  void check_connections();
  Status check_store(storage::ServerLink& link, storage::Clock::time_point deadline);
  Status pulse(milliseconds patience);
  /// The pulse to send; `moved_bytes`: what clients have written and read since the start.
  wire::Pulse space_and_load(int64_t moved_bytes) const;
  Status hear_what_has_gone(milliseconds patience);
  Status ask_of_moves(milliseconds patience);
  Status tell_condition();
  void sign_off();
  /// Returns the store's manager, in this process or another.
  Result<std::vector<std::byte>> ask_manager(wire::Kind kind, std::vector<std::byte> body, milliseconds patience);

  ServerOptions options;
  StoreDirectory directory;
  std::shared_ptr<SharedState> shared;
  std::string address;
  std::string listens_on;
  std::string metrics_address;
  IoThreads io_threads;
  std::list<asio::posix::stream_descriptor> doors;
  std::list<asio::posix::stream_descriptor> metrics_doors;
  std::thread timekeeper;
  std::mutex mutex;
  std::condition_variable wake;
  bool ending = false;
  std::list<std::shared_ptr<Connection>> connections;
  uint64_t connection_count = 0;
  std::vector<uint64_t> removed;  // files, of which the manager is to hear
  int64_t told_bytes = 0;         // the bytes of data, moved up to the last pulse
  bool told_bad = false;          // the condition that the manager knows isn't good
  bool joined = false;            // a manager has heard of it since the start
  std::unique_ptr<ManagerElsewhere> elsewhere;
  std::unique_ptr<UsageTeller> usage;
  std::unique_ptr<StandbyDuty> standby;  // null: it is none
  std::unique_ptr<SuccessionDuty> succession;
};

Status Server::State::prepare() {
  const DescriptorShares shares = share_descriptors(options.bounds.connections, io_threads.count());
  options.bounds.connections = shares.connections;
  shared = std::make_shared<SharedState>(options.bounds, options.watch, options.standby_patience);
  shared->paths = directory.object_paths();
  shared->identity = directory.identity();
  if (options.key != nullptr && options.key->is_users()) {
    return Status(ErrorCode::kInvalidArgument, "a server needs the cluster's key, not a user's");
  }
  const bool knows_clients = options.key != nullptr || options.munge != nullptr;
  if (options.encrypts && !knows_clients) {
    return Status(ErrorCode::kInvalidArgument,
                  "--encrypt needs the cluster's key: give the server one (--key FILE), or use MUNGE (--munge)");
  }
  if (options.munge != nullptr) {
    STRIA_RETURN_IF_ERROR(options.munge->check().with_context("--munge"));
  }
  STRIA_ASSIGN_OR_RETURN(shared->newest_version, wire::newest_version());
  shared->key = options.key;
  shared->munge = options.munge;
  shared->encrypts = options.encrypts;
  shared->patience = options.patience;
  STRIA_ASSIGN_OR_RETURN(shared->objects, Objects::open(directory.object_paths(), shares.open_objects));
  shared->role = std::make_unique<RoleRecord>(directory.role_path());
  STRIA_RETURN_IF_ERROR(shared->role->load());
  STRIA_ASSIGN_OR_RETURN(options.join, whom_to_join(options.join, directory.names_path(), *shared));
  elsewhere = std::make_unique<ManagerElsewhere>(
      options.join, connect_to(), *shared->role,
      [this](storage::ServerLink& link, storage::Clock::time_point deadline) { return check_store(link, deadline); });
  STRIA_RETURN_IF_ERROR(options.join.empty() ? prepare_manager() : prepare_joined());
  usage = std::make_unique<UsageTeller>(
      shared->growth, directory.object_paths(), shared->identity,
      [this](wire::Kind kind, std::vector<std::byte> body) { return ask_manager(kind, std::move(body), kPulsePatience); });
  STRIA_ASSIGN_OR_RETURN(Listener listener, Listener::open(options.listen, !knows_clients));
  listens_on = listener.address().text();
  if (listener.is_everywhere() && options.advertise.empty()) {
    return Status(ErrorCode::kInvalidArgument, "'" + listens_on +
                                                   "' is every address of this machine: say by --advertise HOST:PORT at "
                                                   "which one clients find it");
  }
  address = options.advertise.empty() ? listens_on : options.advertise;
  if (options.watch.log != nullptr) {
    options.watch.log->set_server(address);
  }
  for (const int socket : listener.release()) {
    doors.emplace_back(io_threads.first(), socket);
  }
  if (!options.metrics.empty()) {
    STRIA_ASSIGN_OR_RETURN(Listener page, Listener::open(options.metrics, !knows_clients));
    metrics_address = page.address().text();
    for (const int socket : page.release()) {
      metrics_doors.emplace_back(io_threads.first(), socket);
    }
  }
  return {};
}

Connect Server::State::connect_to() const {
  const auto encryption = options.encrypts ? storage::Encryption::kAlways : storage::Encryption::kNever;
  return [key = options.key, encryption](std::vector<wire::Address> addresses) {
    return std::make_unique<storage::ServerLink>(std::move(addresses), key, encryption);
  };
}

Result<std::unique_ptr<Manager>> Server::State::open_manager(std::vector<wire::Identity> away) const {
  return Manager::open(directory.names_path(),
                       {options.ticket_life, options.watch.log, shared->stream, shared->identity, std::move(away)});
}

Status Server::State::prepare_manager() {
  STRIA_RETURN_IF_ERROR(directory.may_keep_names());
  STRIA_ASSIGN_OR_RETURN(auto manager, open_manager({}));
  // Names that come from a backup may not know of the standby.
  if (const wire::Mark mark = shared->role->mark(); mark.epoch == manager->epoch() && mark.number > 0) {
    shared->stream->had_standby(mark.in_step);
  }
  shared->manager.take(std::move(manager));
  return {};
}

Status Server::State::prepare_joined() {
  STRIA_RETURN_IF_ERROR(wire::parse_addresses(options.join).status());
  if (options.standby) {
    standby = std::make_unique<StandbyDuty>(
        *shared, StandbyDuty::Options{
                     .copy_path = directory.standby_path(),
                     .names_path = directory.names_path(),
                     .link = [this] { return elsewhere->link(); },
                     .connect = connect_to(),
                     .address = [this]() -> const std::string& { return address; },
                     .open_manager = [this](std::vector<wire::Identity> away) { return open_manager(std::move(away)); }});
  }
  return {};
}

asio::awaitable<void> Server::State::accept(asio::posix::stream_descriptor& door) {
  asio::error_code error;
  while (!error) {
    co_await door.async_wait(asio::posix::stream_descriptor::wait_read, asio::redirect_error(asio::use_awaitable, error));
    while (!error) {
      const int socket = accept4(door.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket >= 0) {
        try {
          welcome(socket);
        } catch (const std::exception&) {
          ++shared->counters.refused;  // there is no memory for one more
        }
      } else if (errno == EAGAIN) {
        break;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        // The existing connections go on and make room where descriptors or memory are scarce.
        {
          const std::lock_guard lock(mutex);
          make_room();
        }
        asio::steady_timer pause(co_await asio::this_coro::executor, kAfterFailedAccept);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
        break;
      }
    }
  }
}

// Connections without a greeting go first, then those that have been idle longest. Clients whose
// connection was closed connect again when they have a request. So idle clients can't keep others
// out, however many they are.
bool Server::State::make_room() {
  std::shared_ptr<Connection> least;
  std::pair<bool, std::chrono::nanoseconds> least_needed{false, kLeastIdle};
  for (const auto& each : connections) {
    const std::pair<bool, std::chrono::nanoseconds> needed{!each->greeted(), each->spare_for()};
    if (needed.second > kLeastIdle && needed > least_needed) {
      least = each;
      least_needed = needed;
    }
  }
  if (least != nullptr) {
    ++shared->counters.made_room;
    least->make_room();
  }
  return least != nullptr;
}

void Server::State::welcome(int accepted) {
  int family = AF_INET;
  socklen_t bytes = sizeof family;
  getsockopt(accepted, SOL_SOCKET, SO_DOMAIN, &family, &bytes);
  Stream::Socket socket = Stream::wrap(io_threads.any().get_executor(), family, accepted);
  const std::lock_guard lock(mutex);
  if (connections.size() >= options.bounds.connections) {
    forget_finished();
  }
  if (ending || (connections.size() >= options.bounds.connections && !make_room())) {
    ++shared->counters.refused;
    shared->watch.tell({Level::kWarning, "connections_full",
                        "a client was not let in: there are " + std::to_string(connections.size()) +
                            " connections, and none can be spared (--connections)"});
    return;
  }
  auto connection = std::make_shared<Connection>(shared, std::move(socket), ++connection_count);
  std::list<std::shared_ptr<Connection>> one{connection};
  asio::co_spawn(
      connection->executor(), [connection] { return connection->run(); }, asio::detached);
  connections.splice(connections.end(), one);
}

void Server::State::open_doors() {
  for (asio::posix::stream_descriptor& door : doors) {
    asio::co_spawn(
        door.get_executor(), [this, &door] { return accept(door); }, asio::detached);
  }
  for (asio::posix::stream_descriptor& door : metrics_doors) {
    asio::co_spawn(
        door.get_executor(), [this, &door] { return serve_metrics(shared, door); }, asio::detached);
  }
  io_threads.start();
}

void Server::State::start_threads() {
  if (standby != nullptr) {
    standby->start();
  }
  succession = std::make_unique<SuccessionDuty>(*shared, connect_to(), address);
  timekeeper = std::thread([this] { keep_time(); });
}

void Server::State::tell_of_start() const {
  const std::string role = options.join.empty()
                               ? "the store's manager"
                               : (options.standby ? "a standby of" : "a server of") + (" the manager at " + options.join);
  shared->watch.tell({Level::kInfo, "started", "serves '" + options.directory + "' at " + address + " as " + role});
}

void Server::State::forget_finished() {
  std::erase_if(connections, [](const auto& each) { return each->finished(); });
}

void Server::State::check_connections() {
  const std::lock_guard lock(mutex);
  forget_finished();
  for (const auto& each : connections) {
    each->check_time();
  }
}

void Server::State::keep_time() {
  for (int tick = 1;; ++tick) {
    {
      std::unique_lock lock(mutex);
      wake.wait_for(lock, kTick, [this] { return ending; });
      if (ending) {
        return;
      }
    }
    try {
      check_connections();
      succession->tend();
      if (tick % kTicksToPulse == 0) {
        tend();
      }
    } catch (const std::exception&) {
      // This waits for the next tick where memory is scarce now.
    }
  }
}

void Server::State::tend() {
  // The next pulse tells the same; a manager that is away finds us alive when it returns.
  if (pulse(kPulsePatience).ok()) {
    static_cast<void>(usage->tell());
  }
  shared->watch.tidy();
  if (shared->manages()) {
    shared->manager_thread.post([kept = shared] {
      if (kept->manages()) {
        kept->manager->tidy();
      }
    });
  }
  if (!shared->resting.exchange(true)) {
    // However the work ends.
    const std::shared_ptr<void> ends(nullptr, [kept = shared](void*) { kept->resting = false; });
    shared->disk_threads.post([ends, kept = shared] { kept->objects->rest(); });
  }
}

Result<std::vector<std::byte>> Server::State::ask_manager(wire::Kind kind, std::vector<std::byte> body, milliseconds patience) {
  if (!shared->manages()) {
    return elsewhere->ask(kind, std::move(body), patience);
  }
  std::packaged_task<Answer()> task([&] { return shared->manager->answer({{}, kind, 0, std::move(body), kItself}); });
  shared->manager_thread.post([&task] { task(); });
  Answer answer = task.get_future().get();
  STRIA_RETURN_IF_ERROR(answer.status);
  const milliseconds time = patience.count() > 0 ? patience : storage::server_patience();
  if (answer.after_change && !shared->stream->wait(*answer.after_change, time)) {
    return Status(ErrorCode::kIo, "neither the standby nor most servers of the store answer");
  }
  return std::move(answer.body);
}

// The manager at that address, whoever it is now, must be that of the store whose parts are here.
// Asked before the first pulse of each connection: a manager of another store registers nothing.
Status Server::State::check_store(storage::ServerLink& link, storage::Clock::time_point deadline) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, link.ask(wire::Kind::kPulse, wire::encode(wire::Pulse()), deadline));
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::PulseAnswer>(reply, link.version()));
  return directory.belongs_to(wire::store_identity(answer.secret));
}

// Tells the manager what this server is and does, and does what the answer asks for. A server that
// has just started asks before its clients get any bytes which parts went while it was away.
Status Server::State::pulse(milliseconds patience) {
  const int64_t moved_bytes = shared->counters.written_bytes + shared->counters.read_bytes;
  const bool managed = shared->manages();
  STRIA_ASSIGN_OR_RETURN(const auto reply,
                         ask_manager(wire::Kind::kPulse, wire::encode(space_and_load(moved_bytes)), patience));
  const uint16_t version = managed ? wire::kVersion : elsewhere->version();
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::PulseAnswer>(reply, version));
  STRIA_RETURN_IF_ERROR(directory.belongs_to(wire::store_identity(answer.secret)));
  if (!managed) {
    STRIA_RETURN_IF_ERROR(follow_epoch(answer.epoch, *shared->role, *elsewhere));
  }
  if (!joined) {
    STRIA_RETURN_IF_ERROR(hear_what_has_gone(patience));
  }
  shared->tickets.learn(answer.secret, answer.epoch, answer.now_ms);
  told_bytes = moved_bytes;
  removed = shared->objects->remove(answer.remove);
  shared->moving.removed(removed);
  shared->growth.changed(removed);
  if (joined) {
    STRIA_RETURN_IF_ERROR(ask_of_moves(patience));
  }
  joined = true;
  return tell_condition();
}

wire::Pulse Server::State::space_and_load(int64_t moved_bytes) const {
  const Objects::Space space = shared->objects->space();
  const int64_t under_way = shared->buffers.budget().used() + shared->buffers.budget().waiting() + shared->disk_threads.jobs();
  return {.server = shared->identity,
          .address = address,
          .total_bytes = space.total_bytes,
          .free_bytes = space.free_bytes,
          .busy_bytes = moved_bytes - told_bytes + under_way * static_cast<int64_t>(wire::kMaxPayloadBytes),
          .removed = removed};
}

// A server that starts hears which parts went while it was away, as many at once as a message may
// have.
Status Server::State::hear_what_has_gone(milliseconds patience) {
  wire::MovesAsked asked{shared->identity, true, {}};
  while (true) {
    const auto reply = ask_manager(wire::Kind::kMoving, wire::encode(asked), patience);
    if (reply.status().code() == ErrorCode::kUnsupported) {
      return {};  // a manager of an earlier version moves nothing
    }
    STRIA_RETURN_IF_ERROR(reply.status());
    STRIA_ASSIGN_OR_RETURN(const auto told, wire::decode<wire::MovesTold>(*reply));
    shared->moving.start(told);
    // One of an earlier version tells the same again.
    const bool goes_on = asked.parts.empty() || (!told.gone.empty() && asked.parts.back().part != told.gone.back());
    if (told.gone.size() < wire::kMaxListed || !goes_on) {
      return {};
    }
    asked.parts = {{told.gone.back(), false}};
  }
}

Status Server::State::ask_of_moves(milliseconds patience) {
  const auto questions = shared->moving.questions();
  if (questions.empty()) {
    return {};
  }
  wire::MovesAsked asked{shared->identity, false, {}};
  for (const MovingParts::Question& question : questions) {
    asked.parts.push_back(question.asked);
  }
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_manager(wire::Kind::kMoving, wire::encode(asked), patience));
  STRIA_ASSIGN_OR_RETURN(const auto told, wire::decode<wire::MovesTold>(reply));
  if (told.parts.size() != questions.size()) {
    return Status(ErrorCode::kFormat, "the manager has answered for " + std::to_string(told.parts.size()) + " of " +
                                          std::to_string(questions.size()) + " parts");
  }
  shared->moving.settle(questions, told.parts);
  return {};
}

// A manager that has heard nothing of it takes the condition for good.
Status Server::State::tell_condition() {
  const DiskHealth::Judgement now = shared->watch.judge(directory.data_path());
  const bool is_good = now.condition == wire::Condition::kGood;
  if (is_good && !told_bad) {
    return {};
  }
  const wire::ServerCondition said{shared->identity, now.condition, now.why};
  const Status told = ask_manager(wire::Kind::kCondition, wire::encode(said), kPulsePatience).status();
  told_bad = told.ok() ? !is_good : told_bad;
  // A manager of an earlier version doesn't know of conditions.
  return told.code() == ErrorCode::kUnsupported ? Status() : told;
}

// No program is told from now on that a file with a part here is complete, and new files go
// elsewhere.
void Server::State::sign_off() {
  if (shared->manages() || !joined) {
    return;
  }
  const wire::ServerCondition said{shared->identity, wire::Condition::kLeaving, "it was ended"};
  static_cast<void>(ask_manager(wire::Kind::kCondition, wire::encode(said), kSignOffPatience));
}

void Server::State::stop() {
  shared->stopping = true;
  {
    const std::lock_guard lock(mutex);
    ending = true;
  }
  wake.notify_all();
  if (timekeeper.joinable()) {
    timekeeper.join();
  }
  sign_off();
  if (standby != nullptr) {
    standby->stop();
  }
  {
    const std::lock_guard lock(mutex);
    for (const auto& connection : connections) {
      connection->stop();
    }
  }
  for (auto* each : {&doors, &metrics_doors}) {
    for (asio::posix::stream_descriptor& door : *each) {
      asio::post(door.get_executor(), [&door] {
        asio::error_code ignored;
        door.close(ignored);
      });
    }
  }
  // Nothing is left to wait for without connections and doors, and the threads end by themselves.
  io_threads.join();
  shared->disk_threads.join();
  shared->munge_threads.join();
  shared->standby_thread.join();
  if (shared->manages()) {
    shared->manager_thread.post([kept = shared] { kept->manager->answer({{}, wire::Kind::kSyncNames, 0, {}, kItself}); });
  }
  shared->manager_thread.join();
  shared->watch.tell({Level::kInfo, "ended", "ended in order"});
  if (options.listen.starts_with("unix:")) {
    unlink(options.listen.substr(5).c_str());
  }
}

// A standby is there to be promoted when the manager isn't. While another server waits, it answers
// whoever asks who is the manager, so that a standby can take over from one that never comes; but
// it gives nobody bytes, as it doesn't know the store's tickets.
Status Server::State::wait_to_join(const Status& first) {
  if (standby != nullptr && standby->has_copy()) {
    return {};
  }
  const Joining joining{.attempt = [this] { return pulse(kJoinPatience); },
                        .meanwhile = [this] { check_connections(); },
                        .gives_up = options.gives_up};
  return wait_for_manager(joining, first, shared->watch);
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  state_->stop();
}

const std::string& Server::address() const {
  return state_->address;
}

const std::string& Server::listens_on() const {
  return state_->listens_on;
}

const std::string& Server::metrics_address() const {
  return state_->metrics_address;
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  STRIA_ASSIGN_OR_RETURN(StoreDirectory directory, StoreDirectory::open(options.directory));
  auto state = std::make_unique<State>(options, std::move(directory));
  STRIA_RETURN_IF_ERROR(state->prepare());
  const bool joins = !state->options.join.empty();
  const Status heard = state->pulse(joins ? kJoinPatience : milliseconds(0));
  const bool waits = joins && heard.code() == ErrorCode::kIo;
  STRIA_RETURN_IF_ERROR(waits ? Status() : heard);
  std::unique_ptr<Server> server(new Server(std::move(state)));
  server->state_->open_doors();
  STRIA_RETURN_IF_ERROR(waits ? server->state_->wait_to_join(heard) : Status());
  server->state_->start_threads();
  server->state_->tell_of_start();
  return server;
}

}  // namespace stria::server
