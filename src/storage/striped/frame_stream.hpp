// Frames through a socket that never blocks: what can be sent or received now is, the rest later.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stria/status.hpp"
#include "wire/frame.hpp"

namespace stria::storage {

/// What this process has said to all servers so far: requests, bytes sent and bytes received, heads
/// and data. For benchmarks, which look the name up in the drop-in. From any thread.
extern "C" __attribute__((visibility("default"))) void stria_wire_traffic(int64_t* counts);

/// A position in a list of pieces of memory.
class IovecCursor {
 public:
  IovecCursor() = default;
  explicit IovecCursor(std::span<const iovec> pieces);
  int64_t left() const { return left_; }
  /// Appends the next `bytes` to `to`, as pieces, and moves on. \pre bytes <= left()
  void take(int64_t bytes, std::vector<iovec>& to);

 private:
  std::span<const iovec> pieces_;
  size_t used_ = 0;  // of the first piece
  int64_t left_ = 0;
};

/// Sends one request and its data, cut into payloads. Many small pieces are gathered first.
class FrameSender {
 public:
  void start(const wire::Header& header, std::span<const std::byte> body, std::span<const iovec> data);
  bool done() const { return done_; }
  /// Sends what the socket takes; sets `moved` when it took something.
  Status step(int socket, bool& moved);

 private:
  void next_frame(std::span<const std::byte> body);

  wire::Header header_;
  IovecCursor data_;
  std::vector<std::byte> head_;
  std::vector<iovec> pieces_;
  size_t first_ = 0;  // piece that is not wholly sent
  std::unique_ptr<std::byte[]> gathered_;
  bool done_ = true;
};

/// Receives frames: first head and body, then, once the owner has said where to, the payload. A small
/// reply comes with one call of the system, since what follows a head is received with it.
class FrameReceiver {
 public:
  enum class Event { kNothing, kHead, kPayload };

  /// For the first frame of a reply: what came before is forgotten.
  void start();
  /// Receives what has come. kHead: the owner must call accept_payload(), also when there is none;
  /// kPayload: the frame is complete. An error means that the connection is of no more use. Sets
  /// `moved` when something came.
  Result<Event> step(int socket, bool& moved);
  const wire::Header& header() const { return header_; }
  std::span<const std::byte> body() const { return body_; }
  /// The payload goes to the next places of the cursor. \pre it has as many bytes left
  Status accept_payload(IovecCursor& places);

 private:
  enum class Phase { kHeader, kBody, kAsked, kPayload };
  static constexpr size_t kAheadBytes = 4096 + 256;  // a block with its head
  void next_frame();
  Result<bool> receive(int socket, bool& moved);
  Status finish_payload();

  Phase phase_ = Phase::kHeader;
  std::array<std::byte, wire::kHeaderBytes> head_{};
  std::vector<std::byte> body_;
  wire::Header header_;
  std::vector<iovec> target_;  // what is received now
  size_t first_ = 0;           // piece of it that is not yet full
  std::array<std::byte, kAheadBytes> ahead_;
  size_t ahead_begin_ = 0;
  size_t ahead_end_ = 0;
  std::vector<iovec> places_;  // of the payload
  std::unique_ptr<std::byte[]> gathered_;
  bool is_gathered_ = false;
};

}  // namespace stria::storage
