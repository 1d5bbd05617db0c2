#include "file/background/link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"

namespace stria::file {

namespace {

using Length = uint32_t;

// A node that is switched off sends no answer at all. This notices it after half a minute.
constexpr int kKeepAliveIdleSeconds = 10;
constexpr int kKeepAliveEverySeconds = 5;
constexpr int kKeepAliveProbes = 4;
constexpr unsigned kUnansweredMilliseconds = 30000;

Status lost(int error_number) {
  return Status(ErrorCode::kIo, std::strerror(error_number));
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Link::Link(Socket socket) : socket_(std::move(socket)) {
  const int on = 1;
  setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveIdleSeconds, sizeof kKeepAliveIdleSeconds);
  setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEverySeconds, sizeof kKeepAliveEverySeconds);
  setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  setsockopt(descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredMilliseconds, sizeof kUnansweredMilliseconds);
}

Status Link::send(std::span<const std::byte> message) {
  const auto length = static_cast<Length>(message.size());
  std::array<std::byte, sizeof length + kMostBytes> bytes;
  STRIA_CHECK(message.size() <= kMostBytes, message.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::copy(message.begin(), message.end(), bytes.begin() + sizeof length);
  const size_t byte_count = sizeof length + message.size();
  ssize_t sent = -1;
  do {
    sent = ::send(descriptor(), bytes.data(), byte_count, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) {
    return lost(errno);
  }
  return static_cast<size_t>(sent) == byte_count ? Status() : lost(ENOBUFS);
}

// Takes what has come; false when nothing has. Room for it comes first, so that a lack of memory
// loses nothing.
Result<bool> Link::fill() {
  received_.reserve(received_.size() + kMostBytes);
  std::array<std::byte, kMostBytes> part;
  const ssize_t bytes = recv(descriptor(), part.data(), part.size(), MSG_DONTWAIT);
  if (bytes < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Result<bool>(false) : lost(errno);
  }
  if (bytes == 0) {
    return Status(ErrorCode::kIo, "the other side has closed the connection");
  }
  received_.insert(received_.end(), part.begin(), part.begin() + bytes);
  return true;
}

Result<std::optional<std::vector<std::byte>>> Link::receive() {
  using Message = std::optional<std::vector<std::byte>>;
  constexpr size_t kHead = sizeof(Length);
  while (true) {
    Length length = 0;
    if (received_.size() >= kHead) {
      std::memcpy(&length, received_.data(), kHead);
      if (length > kMostBytes) {
        return Status(ErrorCode::kFormat, "what the other side sent is not a message of Stria's");
      }
      if (received_.size() - kHead >= length) {
        const auto begin = received_.begin() + kHead;
        Message message(std::in_place, begin, begin + length);
        received_.erase(received_.begin(), begin + length);
        return message;
      }
    }
    STRIA_ASSIGN_OR_RETURN(const bool more, fill());
    if (!more) {
      return Message();
    }
  }
}

}  // namespace stria::file
