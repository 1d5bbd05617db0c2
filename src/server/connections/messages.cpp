#include "server/connections/messages.hpp"

#include <array>
#include <asio/buffer.hpp>
#include <memory>

#include "base/check.hpp"
#include "server/connections/network/caller_of.hpp"
#include "server/connections/resources/background.hpp"

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

/// Returns the most memory that a message and its reply may need.
int64_t weight_of(const wire::Header& header) {
  const bool long_reply = header.kind == Kind::kList || header.kind == Kind::kServers || header.kind == Kind::kLookAll ||
                          header.kind == Kind::kGetAttribute ||
                          (header.kind >= Kind::kParts && header.kind <= Kind::kUsage && header.kind != Kind::kExtents);
  const int64_t body = header.body_bytes > kSmallBytes ? int64_t{header.body_bytes} : 0;
  return body + (long_reply ? int64_t{wire::kMaxBodyBytes} : 0);
}

}  // namespace

Messages::Messages(SharedState& shared, Stream::Socket socket)
    : shared_(shared), client_(name_of_peer(socket.native_handle())), stream_(std::move(socket)) {}

asio::awaitable<void> Messages::receive(milliseconds time) {
  std::array<std::byte, wire::kHeaderBytes> bytes{};
  co_await stream_.read(bytes, time);
  const auto header = wire::decode_header(bytes, shared_.newest_version);
  if (stranger_ && header.status().code() == ErrorCode::kUnsupported) {
    // The head of this answer tells the client which version the server speaks.
    co_await turn_away(header.status());
  }
  header_ = header.value();
  if (header_.version != version_.value_or(header_.version)) {
    throw Error(ErrorCode::kFormat, "a message of another version than the greeting");
  }
  version_ = header_.version;
  if (stranger_ && header_.body_bytes + header_.payload_bytes > kSmallBytes) {
    throw Error(ErrorCode::kFormat, "a stranger sends much");
  }
  if (header_.kind == Kind::kData && header_.body_bytes != 0) {
    throw Error(ErrorCode::kFormat, "a message in the middle of data");
  }
  milliseconds patience = shared_.patience.message;
  if (const int64_t weight = weight_of(header_); !stranger_ && weight > 0) {
    share_ = co_await wait_for(shared_.messages, weight);
    patience /= shared_.messages.waiting() > 0 ? kHurry : 1;
  }
  body_.resize(header_.body_bytes);
  co_await stream_.read(body_, patience);
  wire::check_body(bytes, body_).throw_if_error();
}

asio::awaitable<void> Messages::receive_request() {
  co_await receive(kForEver);
  request_ = header_.kind;
}

asio::awaitable<void> Messages::receive_payload(std::byte* to) {
  STRIA_CHECK(header_.payload_bytes <= wire::kMaxPayloadBytes, header_.payload_bytes);
  const std::span<std::byte> payload(to, header_.payload_bytes);
  co_await stream_.read(payload, shared_.patience.message);
}

void Messages::finish_request() {
  if (body_.capacity() > kSmallBytes) {
    body_ = {};
  }
  share_ = {};
}

asio::awaitable<Budget::Share> Messages::wait_for(Budget& budget, int64_t amount) {
  Budget::Share share = budget.take_now(amount);
  if (share.granted()) {
    co_return share;
  }
  const auto bell = std::make_shared<Bell>(stream_.executor());
  share = budget.ask(amount, bell);
  auto next_word = std::chrono::steady_clock::now() + kWorkingEvery;
  while (!share.granted()) {
    co_await bell->wait(kWaitSlice);
    if (shared_.stopping) {
      throw Error(ErrorCode::kAborted, "the server ends");
    }
    if (std::chrono::steady_clock::now() > next_word) {
      next_word += kWorkingEvery;
      co_await say_working();
    }
  }
  co_return share;
}

asio::awaitable<void> Messages::reply(Kind kind, std::span<const std::byte> body) {
  wire::Header header;
  header.version = version();
  header.kind = kind;
  header.request = header_.request;
  const std::vector<std::byte> head = wire::encode_head(header, body);
  const asio::const_buffer part(head.data(), head.size());
  co_await stream_.write({&part, 1}, shared_.patience.message);
}

asio::awaitable<void> Messages::send(wire::Header header, std::span<const std::byte> body, Payload payload) {
  const std::span<const std::byte> data = payload.data;
  STRIA_CHECK(data.size() <= wire::kMaxPayloadBytes, data.size(), header.kind);
  header.version = header_.version;
  header.request = header_.request;
  header.payload_bytes = static_cast<uint32_t>(data.size());
  header.payload_sum = payload.sum;
  const std::vector<std::byte> head = wire::encode_head(header, body);
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::const_buffer(data.data(), data.size())};
  co_await stream_.write({parts.data(), data.empty() ? size_t{1} : size_t{2}}, shared_.patience.message);
}

asio::awaitable<void> Messages::refuse(const Status& status) {
  STRIA_CHECK(!status.ok(), request_);  // a client would take it for an answer without content
  shared_.counters.count_error(status.code());
  shared_.watch.failed(request_, status, client_);
  const std::vector<std::byte> body = wire::encode(wire::Failure{status.code(), status.message(), status.reason()}, version());
  co_await reply(Kind::kError, body);
}

asio::awaitable<void> Messages::give(const Answer& answer) {
  if (answer.status.ok()) {
    co_await reply(wire::reply_to(header_.kind), answer.body);
  } else {
    co_await refuse(answer.status);
  }
}

asio::awaitable<void> Messages::turn_away(const Status& why) {
  shared_.watch.turned_away(why, client_);
  co_await refuse(why);
  throw Error(ErrorCode::kPermissionDenied, "a stranger");
}

asio::awaitable<void> Messages::say_working() {
  co_await reply(Kind::kWorking, {});
}

}  // namespace stria::server
