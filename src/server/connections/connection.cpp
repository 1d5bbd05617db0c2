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
constexpr milliseconds kWorkingEvery{5000};
constexpr milliseconds kLongestLockWait{10000};
constexpr milliseconds kLockSlice{250};  // a server that ends waits no longer for those who wait

bool is_of_manager(Kind kind) {
  return kind >= Kind::kOpen && kind <= Kind::kPulse;
}

bool moves_data(Kind kind) {
  return kind == Kind::kWrite || kind == Kind::kRead;
}

}  // namespace

void Connection::stop() {
  asio::post(stream_.executor(), [self = shared_from_this()] { self->stream_.close(); });
}

void Connection::check_time() {
  asio::post(stream_.executor(), [self = shared_from_this()] { self->stream_.check_time(std::chrono::steady_clock::now()); });
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  try {
    co_await serve();
  } catch (const std::exception&) {
    // The client went, or let us wait, or there was no memory for it: its connection is over, and
    // nobody else's.
  }
  stream_.close();
  shared_->locks.unlock_all(number_);
  if (greeted_) {
    if (shared_->manager != nullptr) {
      // In the manager's own order: before what the session asks on its next connection.
      asio::post(shared_->manager_thread, [shared = shared_, session = session_] { shared->manager->session_ended(session); });
    }
    const std::lock_guard lock(shared_->sessions_mutex);
    if (const auto found = shared_->sessions.find(session_); found != shared_->sessions.end() && found->second == self) {
      shared_->sessions.erase(found);
    }
  }
  finished_ = true;
}

asio::awaitable<void> Connection::serve() {
  co_await greet();
  while (!shared_->stopping) {
    co_await receive_head(kForEver);
    co_await handle();
  }
}

asio::awaitable<void> Connection::receive_head(milliseconds time) {
  std::array<std::byte, wire::kHeaderBytes> bytes{};
  co_await stream_.read(bytes, time);
  header_ = wire::decode_header(bytes).value();
  if (!greeted_ && header_.body_bytes + header_.payload_bytes > 4096) {
    throw Error(ErrorCode::kFormat, "a stranger sends much");
  }
  body_.resize(header_.body_bytes);
  co_await stream_.read(body_, shared_->patience.message);
  wire::check_head(bytes, body_).throw_if_error();
}

// Memory for what the request needs, all at once; until there is some, the client waits.
asio::awaitable<Buffers::Lease> Connection::reserve() {
  Buffers::Lease lease = shared_->buffers.take(1);
  while (lease.empty()) {
    const auto bell = std::make_shared<Bell>(stream_.executor());
    co_await bell->wait(milliseconds(1));
    lease = shared_->buffers.take(1);
  }
  co_return lease;
}

asio::awaitable<void> Connection::receive_payload(std::byte* to) {
  const std::span<std::byte> payload(to, header_.payload_bytes);
  co_await stream_.read(payload, shared_->patience.message);
}

asio::awaitable<void> Connection::reply(Kind kind, std::span<const std::byte> body) {
  wire::Header header;
  header.kind = kind;
  header.request = header_.request;
  const std::vector<std::byte> head = wire::encode_head(header, body);
  const asio::const_buffer part(head.data(), head.size());
  co_await stream_.write({&part, 1}, shared_->patience.message);
}

asio::awaitable<void> Connection::refuse(const Status& status) {
  const std::vector<std::byte> body = wire::encode(wire::Failure{status.code(), status.message()});
  co_await reply(Kind::kError, body);
}

asio::awaitable<void> Connection::say_working() {
  co_await reply(Kind::kWorking, {});
}

asio::awaitable<void> Connection::greet() {
  co_await receive_head(shared_->patience.greeting);
  const auto hello = wire::decode<wire::Hello>(body_);
  if (header_.kind != Kind::kHello || header_.payload_bytes != 0 || !hello.ok()) {
    throw Error(ErrorCode::kFormat, "no greeting");
  }
  wire::Challenge challenge;
  challenge.wants_proof = shared_->key != nullptr;
  challenge.server = shared_->identity;
  wire::randomise(challenge.nonce);
  if (shared_->key != nullptr) {
    challenge.proof = shared_->key->server_proof(*hello, challenge);
  }
  const std::vector<std::byte> challenge_body = wire::encode(challenge);
  co_await reply(wire::reply_to(Kind::kHello), challenge_body);
  co_await receive_head(shared_->patience.greeting);
  const auto proof = wire::decode<wire::KeyProof>(body_);
  const bool proven =
      header_.kind == Kind::kProof && header_.payload_bytes == 0 && proof.ok() &&
      (shared_->key == nullptr || wire::same_proof(proof->proof, shared_->key->client_proof(*hello, challenge)));
  if (!proven) {
    const Status why(ErrorCode::kPermissionDenied, "the client has another key than this server");
    co_await refuse(why);
    throw Error(ErrorCode::kPermissionDenied, "no proof");
  }
  co_await take_over(hello->session);
  co_await reply(wire::reply_to(Kind::kProof), {});
}

asio::awaitable<void> Connection::take_over(const wire::Identity& session) {
  session_ = session;
  while (true) {
    std::shared_ptr<Connection> before;
    {
      const std::lock_guard lock(shared_->sessions_mutex);
      std::shared_ptr<Connection>& holder = shared_->sessions[session];
      if (holder == nullptr) {
        holder = shared_from_this();
        greeted_ = true;
        co_return;
      }
      before = holder;
    }
    before->stop();
    const auto bell = std::make_shared<Bell>(stream_.executor());
    co_await bell->wait(milliseconds(2));
  }
}

asio::awaitable<void> Connection::handle() {
  if (moves_data(header_.kind)) {
    Buffers::Lease lease = co_await reserve();
    if (header_.kind == Kind::kWrite) {
      co_await write_data(lease.data());
    } else {
      co_await read_data(lease.data());
    }
    co_return;
  }
  if (header_.payload_bytes != 0 || header_.more) {
    throw Error(ErrorCode::kFormat, "data where none belong");
  }
  if (is_of_manager(header_.kind)) {
    co_await ask_manager();
  } else {
    co_await small_request();
  }
}

asio::awaitable<void> Connection::ask_manager() {
  if (shared_->manager == nullptr) {
    const Status why(ErrorCode::kUnsupported, "this server is no manager of names: use the address of the one that is");
    co_await refuse(why);
    co_return;
  }
  const Question question{session_, header_.kind, header_.request, body_};
  std::function<Answer()> work = [shared = shared_, question] { return shared->manager->answer(question); };
  const Answer answer =
      co_await in_background<Answer>(shared_->manager_thread, std::move(work), kWorkingEvery, [this] { return say_working(); });
  if (answer.status.ok()) {
    co_await reply(wire::reply_to(header_.kind), answer.body);
  } else {
    co_await refuse(answer.status);
  }
}

Answer Connection::change_object(const wire::LocalFile& request) {
  const bool creates = header_.kind != Kind::kExtent && request.local_bytes > 0;
  const auto object = shared_->objects->find(request.file, creates);
  if (!object.ok()) {
    return {object.status(), {}};
  }
  if (*object == nullptr) {
    return {{}, header_.kind == Kind::kExtent ? wire::encode(wire::Extent()) : std::vector<std::byte>()};
  }
  switch (header_.kind) {
    case Kind::kExtent:
      return {{}, wire::encode((*object)->extent())};
    case Kind::kResize:
      return {(*object)->resize(request.local_bytes), {}};
    default:
      return {(*object)->reserve(request.local_bytes), {}};
  }
}

asio::awaitable<void> Connection::small_request() {
  if (header_.kind >= Kind::kLock && header_.kind <= Kind::kIsLocked) {
    co_await lock_range();
    co_return;
  }
  if (header_.kind == Kind::kScrub) {
    co_await scrub();
    co_return;
  }
  const auto request = wire::decode<wire::LocalFile>(body_);
  const bool known = header_.kind >= Kind::kExtent && header_.kind <= Kind::kSync;
  if (!known || !request.ok()) {
    Status why(ErrorCode::kUnsupported, "this server doesn't know that request");
    if (known) {
      why = request.status();
    }
    co_await refuse(why);
    co_return;
  }
  Answer answer;
  if (header_.kind == Kind::kExtent) {
    answer = change_object(*request);
  } else {
    std::function<Answer()> work = [this, self = shared_from_this(), request = *request] {
      return header_.kind == Kind::kSync ? Answer{shared_->objects->sync(request.file), {}} : change_object(request);
    };
    answer =
        co_await in_background<Answer>(shared_->disk_threads, std::move(work), kWorkingEvery, [this] { return say_working(); });
  }
  if (answer.status.ok()) {
    co_await reply(wire::reply_to(header_.kind), answer.body);
  } else {
    co_await refuse(answer.status);
  }
}

asio::awaitable<void> Connection::scrub() {
  const auto request = wire::decode<wire::Scrub>(body_);
  if (!request.ok()) {
    co_await refuse(request.status());
    co_return;
  }
  std::function<Answer()> work = [self = shared_from_this(), request = *request]() -> Answer {
    const auto object = self->shared_->objects->find(request.file, false);
    if (!object.ok()) {
      return {object.status(), {}};
    }
    if (*object == nullptr) {
      return {{}, wire::encode(wire::Scrubbed{0, 0, true, {}})};
    }
    const auto scrubbed = (*object)->scrub(request);
    return {scrubbed.status(), scrubbed.ok() ? wire::encode(*scrubbed) : std::vector<std::byte>()};
  };
  const Answer answer =
      co_await in_background<Answer>(shared_->disk_threads, std::move(work), kWorkingEvery, [this] { return say_working(); });
  if (answer.status.ok()) {
    co_await reply(wire::reply_to(Kind::kScrub), answer.body);
  } else {
    co_await refuse(answer.status);
  }
}

asio::awaitable<void> Connection::lock_range() {
  const auto request = wire::decode<wire::LockRange>(body_);
  if (!request.ok()) {
    co_await refuse(request.status());
    co_return;
  }
  wire::Answer answer;
  if (header_.kind == Kind::kUnlock) {
    answer.yes = shared_->locks.unlock(*request, number_);
  } else if (header_.kind == Kind::kIsLocked) {
    answer.yes = shared_->locks.is_locked(*request);
  } else {
    const auto until = std::chrono::steady_clock::now() + std::min(milliseconds(header_.deadline_ms), kLongestLockWait);
    while (true) {
      const auto bell = std::make_shared<Bell>(stream_.executor());
      answer.yes = shared_->locks.try_lock(*request, number_, [bell] { bell->ring(); });
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      if (answer.yes || left.count() <= 0 || shared_->stopping) {
        break;
      }
      co_await bell->wait(std::min(left, kLockSlice));
    }
  }
  const std::vector<std::byte> body = wire::encode(answer);
  co_await reply(wire::reply_to(header_.kind), body);
}

}  // namespace stria::server
