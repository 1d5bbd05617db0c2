// One connection's bytes, in either direction, for coroutines: the small interface behind which the
// transport stands (sockets of TCP and of Unix by Asio; another would have the same four calls).
//
// Every call takes at most its time in all, so that a client that sends or takes a byte now and then
// can't keep what the server holds for it; the connection is closed then, and the call throws
// asio::system_error, as it does when the other side goes. Exceptions of this kind stay within a
// connection's coroutine, whose end they are.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stria::server {

class Stream {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using Time = std::chrono::steady_clock::time_point;

  /// The socket's executor must run one handler at a time: an event loop of one thread.
  explicit Stream(Socket socket);

  /// Fills `to`, from what was read ahead first. No time: waits for ever, as between requests.
  asio::awaitable<void> read(std::span<std::byte> to, std::chrono::milliseconds time);
  /// Sends the parts, one after another. They must stay until the call is over.
  asio::awaitable<void> write(std::span<const asio::const_buffer> parts, std::chrono::milliseconds time);
  void close();
  asio::any_io_executor executor() { return socket_.get_executor(); }

  /// False when the client has gone, as far as that can be told without waiting.
  bool is_open();

  /// Closes when a call has been waiting beyond its time; true when it did. By the loop's thread.
  bool check_time(Time now);

 private:
  void begin(std::chrono::milliseconds time);
  void end() { due_ns_ = 0; }

  Socket socket_;
  std::vector<std::byte> ahead_;  // of small requests, header and body come together
  size_t begin_ = 0;
  size_t end_ = 0;
  std::atomic<int64_t> due_ns_ = 0;  // 0: no call waits
};

}  // namespace stria::server
