// Frames through a channel: each step sends or receives what it can at once, later steps the rest.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/striped/channel.hpp"
#include "stria/status.hpp"
#include "wire/frame.hpp"

namespace stria::storage {

/// Gives what this process has exchanged with all servers so far: requests, bytes sent and bytes
/// received, with heads and data. For benchmarks, which look this name up in the drop-in. May be
/// called from any thread.
extern "C" __attribute__((visibility("default"))) void stria_wire_traffic(int64_t* counts);

/// A position in a list of pieces of memory.
class IovecCursor {
 public:
  IovecCursor() = default;
  explicit IovecCursor(std::span<const iovec> pieces);
  int64_t left() const { return left_; }
  /// Appends the pieces of the next `bytes` to `to`, and moves on. \pre bytes <= left()
  void take(int64_t bytes, std::vector<iovec>& to);

 private:
  std::span<const iovec> pieces_;
  size_t used_ = 0;  // bytes of the first piece that are used up
  int64_t left_ = 0;
};

/// Sends one request and its data, cut into payloads. Many small pieces are gathered first.
class FrameSender {
 public:
  void start(const wire::Header& header, std::span<const std::byte> body, std::span<const iovec> data);
  bool done() const { return done_; }
  /// Sends as much as the channel takes; sets `moved` when it took anything.
  Status step(Channel& channel, bool& moved);

 private:
  void next_frame(std::span<const std::byte> body);

  wire::Header header_;
  IovecCursor data_;
  std::vector<std::byte> head_;
  std::vector<iovec> pieces_;
  size_t first_ = 0;  // the first piece that is not wholly sent
  std::unique_ptr<std::byte[]> gathered_;
  bool done_ = true;
};

/// Receives frames: first head and body, then the payload, once the owner has said where it goes. A
/// small reply comes with one call of the system, since what follows a head is received with it.
class FrameReceiver {
 public:
  enum class Event { kNothing, kHead, kPayload };

  /// Must be called for the first frame of a reply: what came before is forgotten.
  void start();
  /// Receives what has come. kHead: the owner must now call accept_payload(), even when there is no
  /// payload. kPayload: the frame is complete. An error means that the connection can't be used any
  /// more. Sets `moved` when something came.
  Result<Event> step(Channel& channel, bool& moved);
  const wire::Header& header() const { return header_; }
  std::span<const std::byte> body() const { return body_; }
  /// The payload goes to the next places of the cursor. \pre step() has just given kHead, and the
  /// cursor has as many bytes left
  Status accept_payload(IovecCursor& places);

 private:
  enum class Phase { kHeader, kBody, kAsked, kPayload };
  static constexpr size_t kAheadBytes = 4096 + 256;  // a block with its head
  void next_frame();
  Result<bool> receive(Channel& channel, bool& moved);
  Status finish_payload();

  Phase phase_ = Phase::kHeader;
  std::array<std::byte, wire::kHeaderBytes> head_{};
  std::vector<std::byte> body_;
  wire::Header header_;
  std::vector<iovec> target_;  // where bytes are received now
  size_t first_ = 0;           // the first piece of it that is not yet full
  std::array<std::byte, kAheadBytes> ahead_;
  size_t ahead_begin_ = 0;
  size_t ahead_end_ = 0;
  std::vector<iovec> places_;  // the places of the payload
  std::unique_ptr<std::byte[]> gathered_;
  bool is_gathered_ = false;
};

}  // namespace stria::storage
