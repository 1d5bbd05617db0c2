// A child process behind a socket of this machine: what a store is compared with.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace stria::bench {

/// A connection over loopback to a child, which does `work` with its end.
class Child {
 public:
  explicit Child(const std::function<void(int socket)>& work);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  int socket_of_ours() const { return socket_; }
  /// Closes the connection, and waits until the child has ended.
  void end();

 private:
  int socket_ = -1;
  pid_t process_ = 0;
};

void send_all(int socket, const std::byte* data, int64_t bytes);
/// False when the other side has gone.
bool receive_all(int socket, std::byte* data, int64_t bytes);

}  // namespace stria::bench
