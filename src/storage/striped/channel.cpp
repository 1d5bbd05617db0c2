#include "storage/striped/channel.hpp"

#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace stria::storage {

namespace {

/// Calls `move` (sendmsg or recvmsg) once. Returns how many bytes it moved; 0 when it would block.
template <typename Move>
Result<size_t> move_some(std::span<const iovec> pieces, Move move) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // only read
  message.msg_iovlen = std::min<size_t>(pieces.size(), IOV_MAX);
  ssize_t now = 0;
  do {
    now = move(&message);
  } while (now < 0 && errno == EINTR);
  if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return size_t{0};
  }
  if (now <= 0) {
    return Status(ErrorCode::kIo, now == 0 ? "the server closed the connection" : std::strerror(errno));
  }
  return static_cast<size_t>(now);
}

Result<size_t> send_some(int socket, std::span<const iovec> pieces) {
  return move_some(pieces, [socket](const msghdr* message) { return sendmsg(socket, message, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

Result<size_t> receive_some(int socket, std::span<const iovec> pieces) {
  return move_some(pieces, [socket](msghdr* message) { return recvmsg(socket, message, MSG_DONTWAIT); });
}

/// Calls copy(memory, bytes) for the first bytes of the pieces, at most `most` together. Returns
/// how many there are.
template <typename Copy>
size_t each_of_first(std::span<const iovec> pieces, size_t most, Copy copy) {
  size_t done = 0;
  for (const iovec& piece : pieces) {
    const size_t now = std::min(piece.iov_len, most - done);
    if (now > 0) {
      copy(static_cast<std::byte*>(piece.iov_base), now);
    }
    done += now;
    if (done == most) {
      break;
    }
  }
  return done;
}

}  // namespace

void Channel::open(int socket) {
  STRIA_CHECK(socket >= 0, socket);
  close();
  socket_ = socket;
}

void Channel::close() {
  if (socket_ >= 0) {
    ::close(socket_);
    socket_ = -1;
  }
  encrypted_.reset();
}

bool Channel::is_stale() const {
  char byte = 0;
  const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // The server has nothing to say now: unexpected bytes are as bad as a closed connection.
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void Channel::encrypt(const wire::RecordKeys& keys) {
  STRIA_CHECK(is_open() && encrypted_ == nullptr);
  encrypted_ = std::make_unique<Encrypted>(keys);
}

Result<size_t> Channel::send(std::span<const iovec> pieces) {
  if (encrypted_ == nullptr) {
    return send_some(socket_, pieces);
  }
  STRIA_ASSIGN_OR_RETURN(const bool flushed, flush());
  if (!flushed) {
    return size_t{0};
  }
  std::vector<std::byte>& record = encrypted_->record;
  record.resize(wire::kRecordHeadBytes);
  const size_t bytes = each_of_first(pieces, wire::kMaxRecordBytes, [&](const std::byte* from, size_t count) {
    record.insert(record.end(), from, from + count);
  });
  encrypted_->sealer.seal(record);
  encrypted_->sent = 0;
  STRIA_RETURN_IF_ERROR(flush().status());
  return bytes;
}

Result<bool> Channel::flush() {
  while (encrypted_ != nullptr && encrypted_->sent < encrypted_->record.size()) {
    const iovec rest{encrypted_->record.data() + encrypted_->sent, encrypted_->record.size() - encrypted_->sent};
    STRIA_ASSIGN_OR_RETURN(const size_t now, send_some(socket_, {&rest, 1}));
    if (now == 0) {
      return false;
    }
    encrypted_->sent += now;
  }
  return true;
}

Result<size_t> Channel::receive(std::span<const iovec> pieces) {
  if (encrypted_ == nullptr) {
    return receive_some(socket_, pieces);
  }
  wire::RecordOpener& opener = encrypted_->opener;
  while (true) {
    const auto here = opener.opened();
    if (!here.ok()) {
      return Status(ErrorCode::kIo, here.status().message());  // another connection may cure it
    }
    if (!here->empty()) {
      const std::byte* from = here->data();
      const size_t bytes = each_of_first(pieces, here->size(), [&](std::byte* to, size_t count) {
        std::memcpy(to, from, count);
        from += count;
      });
      opener.take(bytes);
      return bytes;
    }
    const std::span<std::byte> room = opener.room();
    const iovec place{room.data(), room.size()};
    STRIA_ASSIGN_OR_RETURN(const size_t now, receive_some(socket_, {&place, 1}));
    if (now == 0) {
      return size_t{0};
    }
    opener.received(now);
  }
}

}  // namespace stria::storage
