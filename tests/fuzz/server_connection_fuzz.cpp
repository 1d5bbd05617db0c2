// A server's side of a connection: greeting, then any requests, of names and of bytes. Whatever the
// client says, afterwards the server holds nothing for it.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "fuzz/frames_of_input.hpp"
#include "server/connections/connection.hpp"

namespace {

using namespace stria;
using testing::FramesOfInput;
using testing::PlannedFrame;
using testing::require;
using wire::Kind;

constexpr int64_t kMostFileBytes = int64_t{8} << 20;
constexpr int kInputsAState = 200;
constexpr uint64_t kMinuteMs = 60000;
constexpr uint64_t kFiles = 4;

/// Holds what a server has besides its connections, in a directory of its own.
class State {
 public:
  State() {
    std::string pattern = std::string(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") + "/stria-fuzz-XXXXXX";
    require(mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    std::filesystem::create_directory(directory_ + "/data");
    server::Bounds bounds;
    bounds.buffers = 2;
    shared = std::make_shared<server::SharedState>(bounds);
    shared->paths = {directory_ + "/data", directory_ + "/parts", directory_ + "/removed"};
    shared->objects = server::Objects::open(shared->paths).value();
    shared->role = std::make_unique<server::RoleRecord>(directory_ + "/role");
    server::Manager::Options options;
    options.ticket_life = std::chrono::minutes(1);
    options.stream = shared->stream;
    shared->manager.take(server::Manager::open(directory_ + "/names.sqlite", options).value());
    shared->tickets.learn(wire::StoreSecret{}, 0, kMinuteMs);
  }
  /// A server for new files.
  void pulse() const {
    wire::Pulse said;
    said.address = "127.0.0.1:1";
    said.total_bytes = said.free_bytes = kMostFileBytes;
    const server::Caller itself{.user = {}, .trusted = true, .is_super = true};
    require(shared->manager->answer({{}, Kind::kPulse, 0, wire::encode(said), itself}).status.ok());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    shared->manager_thread.join();
    shared->disk_threads.join();
    shared->standby_thread.join();
    shared->munge_threads.join();
    shared.reset();
    std::filesystem::remove_all(directory_);
  }

  /// The connections' loop; work in the background may ring there when a connection has ended.
  asio::io_context io{1};
  std::shared_ptr<server::SharedState> shared;

 private:
  asio::executor_work_guard<asio::io_context::executor_type> stays_{io.get_executor()};
  std::string directory_;
};

/// Returns the state of some inputs; then there is a new one, so that names and files don't grow
/// for ever.
State& state() {
  static std::unique_ptr<State> now;
  static int inputs = 0;
  if (inputs++ % kInputsAState == 0) {
    now.reset();
    const rlimit limit{kMostFileBytes, kMostFileBytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    now = std::make_unique<State>();
    now->pulse();
  }
  return *now;
}

/// Returns the file's number, and a ticket that gives every right for it.
std::vector<std::byte> file_with_ticket(uint64_t file) {
  std::vector<std::byte> bytes;
  wire::Writer writer(bytes);
  writer.fixed(file);
  wire::issue_ticket(wire::StoreSecret{}, file, wire::kMayRead | wire::kMayWrite, 2 * kMinuteMs).put(writer);
  return bytes;
}

/// Returns the greeting of a new session, for the manager knows what it has answered to an old one.
std::vector<std::byte> greeting() {
  static uint64_t sessions = 0;
  wire::Hello hello;
  ++sessions;
  std::memcpy(hello.session.data(), &sessions, sizeof sessions);
  const PlannedFrame empty;
  std::vector<std::byte> bytes = empty.bytes(Kind::kHello, 1, wire::encode(hello));
  const std::vector<std::byte> proof = empty.bytes(Kind::kProof, 2, wire::encode(wire::KeyProof()));
  bytes.insert(bytes.end(), proof.begin(), proof.end());
  return bytes;
}

/// Returns all that the client says. kOther: of another file than the first; kPlain: no file and
/// ticket before the body of a request for bytes.
std::vector<std::byte> stream_of(std::span<const std::byte> input) {
  std::vector<std::byte> stream;
  if (!input.empty() && input[0] != std::byte{0xff}) {
    stream = greeting();
  } else {
    input = input.subspan(std::min<size_t>(input.size(), 1));
  }
  FramesOfInput frames(input);
  PlannedFrame frame;
  for (uint64_t request = 3; frames.next(frame); ++request) {
    const auto kind = static_cast<Kind>(frame.kind);
    const bool for_bytes = kind >= Kind::kWrite && kind < Kind::kStatus && !frame.is(testing::kPlain);
    const uint64_t file = 2 + (frame.is(testing::kOther) ? request % kFiles : 0);
    const std::vector<std::byte> begin = for_bytes ? file_with_ticket(file) : std::vector<std::byte>();
    const uint64_t number = kind == Kind::kData && !frame.is(testing::kOther) ? --request : request;
    const std::vector<std::byte> bytes =
        frame.is(testing::kRaw) ? std::vector(frame.body.begin(), frame.body.end()) : frame.bytes(kind, number, begin);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  return stream;
}

/// The client: says it all, takes every answer, and goes when it has said it.
class Client {
 public:
  Client(int socket, std::vector<std::byte> stream) : socket_(socket), stream_(std::move(stream)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  void go_on() {
    while (sent_ < stream_.size()) {
      const ssize_t now = send(socket_, stream_.data() + sent_, stream_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (now <= 0) {
        break;
      }
      sent_ += static_cast<size_t>(now);
    }
    if (sent_ == stream_.size()) {
      shutdown(socket_, SHUT_WR);
    }
    std::array<std::byte, 1 << 16> sink;
    while (recv(socket_, sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
    }
  }

 private:
  int socket_;
  std::vector<std::byte> stream_;
  size_t sent_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  State& now = state();
  asio::io_context& io = now.io;
  const auto& shared = now.shared;
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Client client(ends[0], stream_of(std::as_bytes(std::span(data, size))));
  {
    const auto connection =
        std::make_shared<server::Connection>(shared, server::Stream::wrap(io.get_executor(), AF_UNIX, ends[1]), 1);
    asio::co_spawn(
        connection->executor(), [connection] { return connection->run(); }, asio::detached);
    while (!connection->finished()) {
      client.go_on();
      io.run_one_for(std::chrono::milliseconds(1));
    }
  }
  while (io.poll() > 0 || shared->manager_thread.jobs() + shared->disk_threads.jobs() > 0) {
  }
  require(shared->locks.count() == 0 && shared->sessions.empty());
  require(shared->messages.used() == 0 && shared->descriptions.used() == 0 && shared->buffers.budget().used() == 0);
  return 0;
}
