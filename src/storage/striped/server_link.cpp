#include "storage/striped/server_link.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace stria::storage {

namespace {

using std::chrono::milliseconds;

// A machine that is switched off sends no answer at all. This notices it after about half a minute.
constexpr int kKeepAliveIdleSeconds = 10;
constexpr int kKeepAliveEverySeconds = 5;
constexpr int kKeepAliveProbes = 4;

void tune(int socket, int family) {
  const int on = 1;
  if (family == AF_UNIX) {
    return;
  }
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveIdleSeconds, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEverySeconds, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof on);
}

Status lost(const std::string& why) {
  return Status(ErrorCode::kIo, why);
}

Status lost(int error_number) {
  return lost(std::strerror(error_number));
}

}  // namespace

Status failure_of(std::span<const std::byte> body, uint16_t version) {
  STRIA_ASSIGN_OR_RETURN(const wire::Failure failure, wire::decode<wire::Failure>(body, version));
  return failure.status();
}

ServerLink::ServerLink(wire::Address address, std::shared_ptr<const wire::Key> key, Encryption encryption)
    : ServerLink(std::vector<wire::Address>{std::move(address)}, std::move(key), encryption) {}

ServerLink::ServerLink(std::vector<wire::Address> addresses, std::shared_ptr<const wire::Key> key, Encryption encryption)
    : addresses_(std::move(addresses)), key_(std::move(key)), encryption_(encryption) {
  STRIA_CHECK(!addresses_.empty(), "a server's address");
  wire::randomise(session_);
}

std::unique_ptr<ServerLink> ServerLink::same_session() const {
  auto other = std::make_unique<ServerLink>(addresses_[current_], key_, encryption_);
  other->session_ = session_;
  return other;
}

void ServerLink::try_next() {
  disconnect();
  current_ = (current_ + 1) % addresses_.size();
}

Status ServerLink::wait_for(short events, Clock::time_point deadline) const {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    pollfd entry{socket(), events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX)));
    if (ready > 0) {
      return {};
    }
    if (ready == 0) {
      return lost("no answer in time");
    }
    if (errno != EINTR) {
      return lost(errno);
    }
  }
}

Status ServerLink::send_all(std::span<const std::byte> bytes, Clock::time_point deadline) {
  while (true) {
    size_t now = 0;
    bool flushed = false;
    if (bytes.empty()) {
      STRIA_ASSIGN_OR_RETURN(flushed, channel_.flush());
    } else {
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // only read
      STRIA_ASSIGN_OR_RETURN(now, channel_.send({&piece, 1}));
    }
    if (flushed) {
      return {};
    }
    bytes = bytes.subspan(now);
    if (now == 0) {
      STRIA_RETURN_IF_ERROR(wait_for(POLLOUT, deadline));
    }
  }
}

Status ServerLink::receive_all(std::span<std::byte> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const iovec piece{bytes.data(), bytes.size()};
    STRIA_ASSIGN_OR_RETURN(const size_t now, channel_.receive({&piece, 1}));
    bytes = bytes.subspan(now);
    if (now == 0) {
      STRIA_RETURN_IF_ERROR(wait_for(POLLIN, deadline));
    }
  }
  return {};
}

Status ServerLink::reach(Clock::time_point deadline) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<wire::SocketAddress> places, wire::resolve(addresses_[current_]));
  Status outcome = lost("it has no address");
  for (const wire::SocketAddress& place : places) {
    const int made = ::socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) {
      return Status::from_errno(errno, "make a socket");
    }
    channel_.open(made);
    tune(made, place.family());
    outcome = {};
    if (::connect(made, place.get(), place.bytes) != 0) {
      int error_number = errno;
      socklen_t bytes = sizeof error_number;
      if (error_number == EINPROGRESS) {
        outcome = wait_for(POLLOUT, deadline);
        getsockopt(made, SOL_SOCKET, SO_ERROR, &error_number, &bytes);
      }
      if (outcome.ok() && error_number != 0) {
        outcome = lost(error_number);
      }
    }
    if (outcome.ok()) {
      return outcome;
    }
  }
  return outcome;
}

Result<std::vector<std::byte>> ServerLink::ask(wire::Kind kind, std::span<const std::byte> body, Clock::time_point deadline) {
  STRIA_RETURN_IF_ERROR(may_ask(kind));
  wire::Header header;
  header.version = version_;
  header.kind = kind;
  header.request = next_request();
  STRIA_RETURN_IF_ERROR(send_all(wire::encode_head(header, body), deadline));
  std::array<std::byte, wire::kHeaderBytes> bytes{};
  std::vector<std::byte> reply;
  wire::Header answer;
  do {
    STRIA_RETURN_IF_ERROR(receive_all(bytes, deadline));
    const auto header_of_answer = wire::decode_header(bytes, version_);
    if (header_of_answer.status().code() == ErrorCode::kCorrupted || header_of_answer.status().code() == ErrorCode::kFormat) {
      return lost("an answer changed on its way");
    }
    STRIA_RETURN_IF_ERROR(header_of_answer.status());
    answer = *header_of_answer;
    answered_in_ = answer.version;
    reply.resize(answer.body_bytes);
    STRIA_RETURN_IF_ERROR(receive_all(reply, deadline));
    if (!wire::check_body(bytes, reply).ok()) {
      return lost("an answer changed on its way");
    }
  } while (answer.kind == wire::Kind::kWorking && answer.request == header.request && answer.payload_bytes == 0);
  if (answer.kind == wire::Kind::kError) {
    return failure_of(reply, answer.version);
  }
  const bool expected = answer.kind == wire::reply_to(kind) && answer.request == header.request && answer.payload_bytes == 0 &&
                        answer.version == version_;
  return expected ? Result<std::vector<std::byte>>(std::move(reply))
                  : Status(ErrorCode::kFormat, "the server's answer fits no question");
}

Status ServerLink::greet(Clock::time_point deadline) {
  const Greeting greeting({session_, key_.get(), encryption_, addresses_[current_].is_unix});
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask(wire::Kind::kHello, wire::encode(greeting.hello()), deadline));
  STRIA_ASSIGN_OR_RETURN(const auto challenge, wire::decode<wire::Challenge>(reply));
  STRIA_ASSIGN_OR_RETURN(const auto proof, greeting.answer(challenge));
  STRIA_RETURN_IF_ERROR(ask(wire::Kind::kProof, proof, deadline).status());
  STRIA_ASSIGN_OR_RETURN(const auto keys, greeting.record_keys(challenge));
  if (keys) {
    channel_.encrypt(*keys);
  }
  server_identity_ = challenge.server;
  return after_greeting ? after_greeting(*this, deadline) : Status();
}

Status ServerLink::may_ask(wire::Kind kind) const {
  const uint16_t needed = wire::first_version_of(kind);
  if (needed <= version_) {
    return {};
  }
  return Status(ErrorCode::kUnsupported, "the server at " + server() + " speaks version " + std::to_string(version_) +
                                             " of the protocol, and this needs version " + std::to_string(needed) +
                                             ": upgrade the server first");
}

Status ServerLink::reach_and_greet(Clock::time_point deadline) {
  disconnect();
  answered_in_ = version_;
  STRIA_RETURN_IF_ERROR(reach(deadline));
  return greet(deadline);
}

Status ServerLink::connect(Clock::time_point deadline) {
  STRIA_ASSIGN_OR_RETURN(version_, wire::newest_version());
  Status outcome = reach_and_greet(deadline);
  if (outcome.code() == ErrorCode::kUnsupported && answered_in_ < version_) {
    version_ = answered_in_;
    outcome = reach_and_greet(deadline);
  }
  if (!outcome.ok()) {
    disconnect();
    return outcome;
  }
  STRIA_CHECK(connected(), server());
  ++generation_;
  return outcome;
}

}  // namespace stria::storage
