#include "server/connections/network/stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/system_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cstring>

namespace stria::server {

namespace {

constexpr size_t kAheadBytes = 16 << 10;
// A client whose machine is gone, or can't be reached, is noticed after about a minute of silence.
constexpr int kKeepAliveIdleSeconds = 30;
constexpr int kKeepAliveEverySeconds = 10;
constexpr int kKeepAliveProbes = 3;

int64_t since_start(Stream::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

Stream::Stream(Socket socket) : socket_(std::move(socket)), ahead_(kAheadBytes) {
  const int on = 1;
  const int descriptor = socket_.native_handle();
  // The options of TCP fail on a Unix socket, which does no harm.
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveIdleSeconds, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEverySeconds, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof on);
}

Stream::Socket Stream::wrap(const asio::any_io_executor& executor, int family, int descriptor) {
  Socket socket(executor);
  asio::error_code error;
  socket.assign(asio::generic::stream_protocol(family, 0), descriptor, error);
  if (error) {
    ::close(descriptor);
    throw asio::system_error(error);
  }
  return socket;
}

void Stream::begin(std::chrono::milliseconds time) {
  due_ns_ = time.count() == 0 ? 0 : since_start(std::chrono::steady_clock::now() + time);
}

bool Stream::encrypt(const wire::RecordKeys& keys) {
  encrypted_ = std::make_unique<Encrypted>(keys);
  return begin_ == end_;
}

asio::awaitable<void> Stream::read_encrypted(std::span<std::byte> to) {
  wire::RecordOpener& opener = encrypted_->opener;
  while (!to.empty()) {
    const std::span<const std::byte> here = opener.opened().value();
    if (here.empty()) {
      const std::span<std::byte> room = opener.room();
      const size_t came = co_await socket_.async_read_some(asio::buffer(room.data(), room.size()), asio::use_awaitable);
      opener.received(came);
      continue;
    }
    const size_t now = std::min(to.size(), here.size());
    std::memcpy(to.data(), here.data(), now);
    opener.take(now);
    to = to.subspan(now);
  }
}

asio::awaitable<void> Stream::read(std::span<std::byte> to, std::chrono::milliseconds time) {
  begin(time);
  if (encrypted_ != nullptr) {
    co_await read_encrypted(to);
    to = {};
  }
  while (!to.empty()) {
    if (begin_ == end_ && to.size() >= kAheadBytes) {
      const size_t now = co_await socket_.async_read_some(asio::buffer(to.data(), to.size()), asio::use_awaitable);
      to = to.subspan(now);
      continue;
    }
    if (begin_ == end_) {
      begin_ = 0;
      end_ = 0;
      end_ = co_await socket_.async_read_some(asio::buffer(ahead_), asio::use_awaitable);
    }
    const size_t now = std::min(to.size(), end_ - begin_);
    std::memcpy(to.data(), ahead_.data() + begin_, now);
    begin_ += now;
    to = to.subspan(now);
  }
  end();
}

asio::awaitable<void> Stream::write(std::span<const asio::const_buffer> parts, std::chrono::milliseconds time) {
  begin(time);
  if (encrypted_ != nullptr) {
    co_await write_encrypted(parts);
  } else {
    std::vector<asio::const_buffer> left(parts.begin(), parts.end());
    co_await send(std::move(left));
  }
  end();
}

asio::awaitable<void> Stream::write_encrypted(std::span<const asio::const_buffer> parts) {
  std::vector<std::byte>& record = encrypted_->record;
  record.assign(wire::kRecordHeadBytes, std::byte{0});
  for (asio::const_buffer left : parts) {
    while (left.size() > 0) {
      const auto* const from = static_cast<const std::byte*>(left.data());
      const size_t now = std::min(left.size(), wire::kRecordHeadBytes + wire::kMaxRecordBytes - record.size());
      record.insert(record.end(), from, from + now);
      left += now;
      if (record.size() == wire::kRecordHeadBytes + wire::kMaxRecordBytes) {
        co_await send_record();
      }
    }
  }
  if (record.size() > wire::kRecordHeadBytes) {
    co_await send_record();
  }
}

asio::awaitable<void> Stream::send_record() {
  encrypted_->sealer.seal(encrypted_->record);
  std::vector<asio::const_buffer> whole(1, asio::buffer(encrypted_->record));
  co_await send(std::move(whole));
  encrypted_->record.resize(wire::kRecordHeadBytes);
}

asio::awaitable<void> Stream::send(std::vector<asio::const_buffer> left) {
  while (!left.empty()) {
    size_t now = co_await socket_.async_write_some(left, asio::use_awaitable);
    while (!left.empty() && now >= left.front().size()) {
      now -= left.front().size();
      left.erase(left.begin());
    }
    if (!left.empty()) {
      left.front() += now;
    }
  }
}

void Stream::close() {
  asio::error_code ignored;
  socket_.close(ignored);
}

bool Stream::is_open() {
  char byte = 0;
  return socket_.is_open() && recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

bool Stream::check_time(Time now) {
  const int64_t due = due_ns_;
  const bool late = socket_.is_open() && due != 0 && due < since_start(now);
  if (late) {
    close();
  }
  return late;
}

}  // namespace stria::server
