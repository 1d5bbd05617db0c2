#include "server/connections/connection.hpp"

#include <array>
#include <asio/post.hpp>
#include <asio/system_error.hpp>
#include <exception>

#include "base/hash.hpp"
#include "server/connections/background.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;
using wire::Kind;

constexpr milliseconds kForEver{0};
constexpr milliseconds kWaitSlice{250};  // a server that ends waits no longer for clients that wait
// The time to send a message is divided by this while others wait for the memory that it takes.
constexpr int kHurry = 10;
// Each connection always has memory for a message of this size.
constexpr uint32_t kSmallBytes = 4096;

/// The most memory that a message and its reply may need.
int64_t weight_of(const wire::Header& header) {
  const bool long_reply = header.kind == Kind::kList || header.kind == Kind::kServers || header.kind == Kind::kLookAll ||
                          header.kind == Kind::kGetAttribute ||
                          (header.kind >= Kind::kParts && header.kind <= Kind::kUsage && header.kind != Kind::kExtents);
  const int64_t body = header.body_bytes > kSmallBytes ? int64_t{header.body_bytes} : 0;
  return body + (long_reply ? int64_t{wire::kMaxBodyBytes} : 0);
}

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Connection::Connection(std::shared_ptr<SharedState> shared, Stream::Socket socket, uint64_t number)
    : shared_(std::move(shared)),
      peer_(peer_of(socket.native_handle())),
      client_(name_of_peer(socket.native_handle())),
      stream_(std::move(socket)),
      number_(number),
      idle_since_ns_(steady_ns()) {
  ++shared_->counters.connections;
  ++shared_->counters.open_connections;
}

bool Connection::is_needed() const {
  return idle_since_ns_ == 0 || handles_ > 0 || shared_->locks.has_any(number_);
}

std::chrono::nanoseconds Connection::spare_for() const {
  return std::chrono::nanoseconds(ending_ || is_needed() ? 0 : steady_ns() - idle_since_ns_);
}

void Connection::make_room() {
  ending_ = true;
  asio::post(stream_.executor(), [self = shared_from_this()] {
    self->ending_ = !self->is_needed();  // a request may have come meanwhile
    if (self->ending_) {
      self->stream_.close();
    }
  });
}

void Connection::stop() {
  asio::post(stream_.executor(), [self = shared_from_this()] { self->stream_.close(); });
}

void Connection::check_time() {
  asio::post(stream_.executor(), [self = shared_from_this()] {
    if (self->stream_.check_time(std::chrono::steady_clock::now())) {
      ++self->shared_->counters.timed_out;
      self->shared_->watch.cut_off(self->client_);
    }
  });
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  try {
    co_await serve();
  } catch (const Error& error) {
    shared_->watch.broken(error, client_);
  } catch (const std::exception&) {
    // The client has gone, or was too slow, or there was no memory for it. Only this
    // connection ends.
    if (challenged_ && !greeted_) {
      shared_->watch.turned_away(
          Status(ErrorCode::kPermissionDenied, "it left within the greeting, as one does that has another key"), client_);
    }
  }
  stream_.close();
  shared_->locks.unlock_all(number_);
  if (counted_) {
    shared_->users.remove(caller_.user.uid);
  }
  if (greeted_) {
    if (shared_->manager != nullptr) {
      // In the manager's queue, before what the session asks on its next connection.
      shared_->manager_thread.post([shared = shared_, session = session_] { shared->manager->session_ended(session); });
    }
    const std::lock_guard lock(shared_->sessions_mutex);
    if (const auto found = shared_->sessions.find(session_); found != shared_->sessions.end() && found->second == self) {
      shared_->sessions.erase(found);
    }
  }
  --shared_->counters.open_connections;
  finished_ = true;
}

asio::awaitable<void> Connection::serve() {
  co_await greet();
  while (!shared_->stopping) {
    idle_since_ns_ = steady_ns();
    co_await receive_head(kForEver);
    idle_since_ns_ = 0;
    kind_ = header_.kind;
    const int64_t begin_ns = steady_ns();
    co_await handle();
    const std::chrono::nanoseconds time(steady_ns() - begin_ns);
    shared_->counters.count_request(kind_, time);
    shared_->watch.answered(kind_, time, client_);
    if (body_.capacity() > kSmallBytes) {
      body_ = {};
    }
    message_share_ = {};
  }
}

asio::awaitable<void> Connection::receive_head(milliseconds time) {
  std::array<std::byte, wire::kHeaderBytes> bytes{};
  co_await stream_.read(bytes, time);
  const auto header = wire::decode_header(bytes, shared_->newest_version);
  if (!greeted_ && header.status().code() == ErrorCode::kUnsupported) {
    // The head of this answer tells the client which version the server speaks.
    co_await turn_away(header.status());
  }
  header_ = header.value();
  if (header_.version != version_.value_or(header_.version)) {
    throw Error(ErrorCode::kFormat, "a message of another version than the greeting");
  }
  version_ = header_.version;
  if (!greeted_ && header_.body_bytes + header_.payload_bytes > kSmallBytes) {
    throw Error(ErrorCode::kFormat, "a stranger sends much");
  }
  if (header_.kind == Kind::kData && header_.body_bytes != 0) {
    throw Error(ErrorCode::kFormat, "a message in the middle of data");
  }
  milliseconds patience = shared_->patience.message;
  if (const int64_t weight = weight_of(header_); greeted_ && weight > 0) {
    message_share_ = co_await wait_for(shared_->messages, weight);
    patience /= shared_->messages.waiting() > 0 ? kHurry : 1;
  }
  body_.resize(header_.body_bytes);
  co_await stream_.read(body_, patience);
  wire::check_body(bytes, body_).throw_if_error();
}

// Tells the client now and then that it isn't forgotten.
asio::awaitable<Budget::Share> Connection::wait_for(Budget& budget, int64_t amount) {
  Budget::Share share = budget.take_now(amount);
  if (share.granted()) {
    co_return share;
  }
  const auto bell = std::make_shared<Bell>(stream_.executor());
  share = budget.ask(amount, bell);
  auto next_word = std::chrono::steady_clock::now() + kWorkingEvery;
  while (!share.granted()) {
    co_await bell->wait(kWaitSlice);
    if (shared_->stopping) {
      throw Error(ErrorCode::kAborted, "the server ends");
    }
    if (std::chrono::steady_clock::now() > next_word) {
      next_word += kWorkingEvery;
      co_await say_working();
    }
  }
  co_return share;
}

asio::awaitable<void> Connection::receive_payload(std::byte* to) {
  const std::span<std::byte> payload(to, header_.payload_bytes);
  co_await stream_.read(payload, shared_->patience.message);
}

asio::awaitable<void> Connection::reply(Kind kind, std::span<const std::byte> body) {
  wire::Header header;
  header.version = version_.value_or(shared_->newest_version);
  header.kind = kind;
  header.request = header_.request;
  const std::vector<std::byte> head = wire::encode_head(header, body);
  const asio::const_buffer part(head.data(), head.size());
  co_await stream_.write({&part, 1}, shared_->patience.message);
}

asio::awaitable<void> Connection::refuse(const Status& status) {
  shared_->counters.count_error(status.code());
  shared_->watch.failed(kind_, status, client_);
  const std::vector<std::byte> body = wire::encode(wire::Failure{status.code(), status.message()});
  co_await reply(Kind::kError, body);
}

asio::awaitable<void> Connection::say_working() {
  co_await reply(Kind::kWorking, {});
}

}  // namespace stria::server
