// The bytes of one connection in both directions, for coroutines. This small interface hides the
// transport (TCP and Unix sockets by Asio; another would have the same calls) and its encryption.
//
// Every call has a time limit for all of its bytes, so that a client that sends or takes a byte now
// and then can't tie up what the server holds for it. After that time the connection is closed, and
// the call throws asio::system_error, as it does when the other side has gone. Such an exception
// ends the connection's coroutine and doesn't leave it.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/trust/encryption.hpp"

namespace stria::server {

class Stream {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using Time = std::chrono::steady_clock::time_point;

  /// Takes an accepted descriptor, which it closes where it throws.
  static Socket wrap(const asio::any_io_executor& executor, int family, int descriptor);
  /// The socket's executor must run one handler at a time: an event loop of one thread.
  explicit Stream(Socket socket);

  /// Fills `to`, first from what was read ahead. A time of 0 means no limit, as between requests.
  asio::awaitable<void> read(std::span<std::byte> to, std::chrono::milliseconds time);
  /// Sends the parts one after another. They must live until the call is over.
  asio::awaitable<void> write(std::span<const asio::const_buffer> parts, std::chrono::milliseconds time);
  /// All bytes are encrypted from now on, those that come and those that go. False when some were
  /// read ahead, which were not. Takes 128 KiB.
  bool encrypt(const wire::RecordKeys& keys);
  void close();
  asio::any_io_executor executor() { return socket_.get_executor(); }

  /// False when the client has gone, as far as that can be told without waiting.
  bool is_open();

  /// Closes the connection when a call has waited beyond its time; true when it did so. For the
  /// loop's thread.
  bool check_time(Time now);

 private:
  struct Encrypted {
    explicit Encrypted(const wire::RecordKeys& keys) : opener(keys.to_server), sealer(keys.to_client) {}
    wire::RecordOpener opener;
    wire::RecordSealer sealer;
    std::vector<std::byte> record;  // the one that is being sent
  };
  void begin(std::chrono::milliseconds time);
  void end() { due_ns_ = 0; }
  asio::awaitable<void> read_encrypted(std::span<std::byte> to);
  asio::awaitable<void> write_encrypted(std::span<const asio::const_buffer> parts);
  asio::awaitable<void> send_record();
  asio::awaitable<void> send(std::vector<asio::const_buffer> parts);

  Socket socket_;
  std::vector<std::byte> ahead_;  // small requests, whose header and body come together
  size_t begin_ = 0;
  size_t end_ = 0;
  std::unique_ptr<Encrypted> encrypted_;
  std::atomic<int64_t> due_ns_ = 0;  // 0: no call waits
};

}  // namespace stria::server
