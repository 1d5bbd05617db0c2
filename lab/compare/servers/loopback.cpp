#include "loopback.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measures.hpp"

namespace stria::bench {

namespace {

int tuned(int made) {
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

}  // namespace

Child::Child(const std::function<void(int socket)>& work) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  need(bind(listener, address, bytes) == 0 && listen(listener, 1) == 0, "no socket");
  getsockname(listener, address, &bytes);
  process_ = fork();
  need(process_ >= 0, "no process");
  if (process_ == 0) {
    work(tuned(accept(listener, nullptr, nullptr)));
    _exit(0);
  }
  socket_ = tuned(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  need(connect(socket_, address, bytes) == 0, "no connection");
  close(listener);
}

void Child::end() {
  if (socket_ >= 0) {
    shutdown(socket_, SHUT_RDWR);  // later children have the socket too
    close(socket_);
    waitpid(process_, nullptr, 0);
    socket_ = -1;
  }
}

void send_all(int socket, const std::byte* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t now = send(socket, data, static_cast<size_t>(bytes), MSG_NOSIGNAL);
    need(now > 0, "send");
    data += now;
    bytes -= now;
  }
}

bool receive_all(int socket, std::byte* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t now = recv(socket, data, static_cast<size_t>(bytes), 0);
    if (now <= 0) {
      return false;
    }
    data += now;
    bytes -= now;
  }
  return true;
}

}  // namespace stria::bench
