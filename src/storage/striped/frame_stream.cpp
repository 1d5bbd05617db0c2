#include "storage/striped/frame_stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.hpp"
#include "base/copy_piece.hpp"
#include "base/hash.hpp"

namespace stria::storage {

namespace {

// When a payload has more pieces than this, copying them together costs less than handing each
// to the system.
constexpr size_t kManyPieces = 64;
constexpr int64_t kPayloadBytes = wire::kMaxPayloadBytes;

struct Traffic {
  std::atomic<int64_t> requests = 0;
  std::atomic<int64_t> sent_bytes = 0;
  std::atomic<int64_t> received_bytes = 0;
};
Traffic traffic;

std::span<const std::byte> bytes_of(const iovec& piece) {
  return {static_cast<const std::byte*>(piece.iov_base), piece.iov_len};
}

uint64_t sum_of(std::span<const iovec> pieces) {
  if (pieces.empty()) {
    return 0;
  }
  if (pieces.size() == 1) {
    return hash_bytes(bytes_of(pieces[0]));
  }
  StreamingHash hash;
  for (const iovec& piece : pieces) {
    hash.update(bytes_of(piece));
  }
  return hash.digest();
}

/// Moves on behind so many bytes of the pieces from `first` on, which are through.
void advance(std::vector<iovec>& pieces, size_t& first, size_t bytes) {
  while (bytes > 0) {
    STRIA_CHECK(first < pieces.size(), first, pieces.size(), bytes);
    iovec& piece = pieces[first];
    const size_t step = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + step;
    piece.iov_len -= step;
    bytes -= step;
    first += piece.iov_len == 0 ? 1 : 0;
  }
}

}  // namespace

void stria_wire_traffic(int64_t* counts) {
  counts[0] = traffic.requests;
  counts[1] = traffic.sent_bytes;
  counts[2] = traffic.received_bytes;
}

IovecCursor::IovecCursor(std::span<const iovec> pieces) : pieces_(pieces) {
  for (const iovec& piece : pieces) {
    left_ += static_cast<int64_t>(piece.iov_len);
  }
}

void IovecCursor::take(int64_t bytes, std::vector<iovec>& to) {
  STRIA_CHECK(0 <= bytes && bytes <= left_, bytes, left_);
  left_ -= bytes;
  while (bytes > 0) {
    const iovec& piece = pieces_.front();
    const size_t now = std::min(piece.iov_len - used_, static_cast<size_t>(bytes));
    if (now > 0) {
      to.push_back({static_cast<std::byte*>(piece.iov_base) + used_, now});
    }
    bytes -= static_cast<int64_t>(now);
    used_ += now;
    if (used_ == piece.iov_len) {
      pieces_ = pieces_.subspan(1);
      used_ = 0;
    }
  }
}

void FrameSender::start(const wire::Header& header, std::span<const std::byte> body, std::span<const iovec> data) {
  header_ = header;
  data_ = IovecCursor(data);
  done_ = false;
  traffic.requests.fetch_add(1, std::memory_order_relaxed);
  next_frame(body);
}

void FrameSender::next_frame(std::span<const std::byte> body) {
  std::vector<iovec> payload;
  const int64_t bytes = std::min(data_.left(), kPayloadBytes);
  data_.take(bytes, payload);
  if (payload.size() > kManyPieces) {
    if (gathered_ == nullptr) {
      gathered_ = std::make_unique_for_overwrite<std::byte[]>(kPayloadBytes);
    }
    std::byte* to = gathered_.get();
    for (const iovec& piece : payload) {
      copy_piece(to, piece.iov_base, piece.iov_len);
      to += piece.iov_len;
    }
    payload.assign(1, {gathered_.get(), static_cast<size_t>(bytes)});
  }
  header_.payload_bytes = static_cast<uint32_t>(bytes);
  header_.payload_sum = sum_of(payload);
  header_.more = data_.left() > 0;
  head_ = wire::encode_head(header_, body);
  pieces_.assign(1, {head_.data(), head_.size()});
  pieces_.insert(pieces_.end(), payload.begin(), payload.end());
  first_ = 0;
}

Status FrameSender::step(Channel& channel, bool& moved) {
  while (!done_) {
    if (first_ == pieces_.size()) {
      STRIA_ASSIGN_OR_RETURN(done_, channel.flush());
      return {};
    }
    STRIA_ASSIGN_OR_RETURN(const size_t sent, channel.send(std::span(pieces_).subspan(first_)));
    if (sent == 0) {
      return {};
    }
    moved = true;
    traffic.sent_bytes.fetch_add(static_cast<int64_t>(sent), std::memory_order_relaxed);
    advance(pieces_, first_, sent);
    if (first_ == pieces_.size() && header_.more) {
      header_.kind = wire::Kind::kData;
      next_frame({});
    }
  }
  return {};
}

void FrameReceiver::start() {
  ahead_begin_ = 0;
  ahead_end_ = 0;
  next_frame();
}

void FrameReceiver::next_frame() {
  phase_ = Phase::kHeader;
  target_.assign(1, {head_.data(), head_.size()});
  first_ = 0;
}

/// True when all that is wanted now is here. What follows a head is received with it, and copied; a
/// payload goes to its places at once.
Result<bool> FrameReceiver::receive(Channel& channel, bool& moved) {
  while (first_ < target_.size()) {
    if (ahead_begin_ < ahead_end_) {
      const iovec& piece = target_[first_];
      const size_t now = std::min(piece.iov_len, ahead_end_ - ahead_begin_);
      std::memcpy(piece.iov_base, ahead_.data() + ahead_begin_, now);
      ahead_begin_ += now;
      advance(target_, first_, now);
      continue;
    }
    const bool reads_ahead = phase_ != Phase::kPayload;
    iovec whole{ahead_.data(), ahead_.size()};
    STRIA_ASSIGN_OR_RETURN(const size_t now,
                           channel.receive(reads_ahead ? std::span(&whole, 1) : std::span(target_).subspan(first_)));
    if (now == 0) {
      return false;
    }
    moved = true;
    traffic.received_bytes.fetch_add(static_cast<int64_t>(now), std::memory_order_relaxed);
    if (reads_ahead) {
      ahead_begin_ = 0;
      ahead_end_ = now;
    } else {
      advance(target_, first_, now);
    }
  }
  return true;
}

Result<FrameReceiver::Event> FrameReceiver::step(Channel& channel, bool& moved) {
  STRIA_CHECK(phase_ != Phase::kAsked);
  while (true) {
    STRIA_ASSIGN_OR_RETURN(const bool here, receive(channel, moved));
    if (!here) {
      return Event::kNothing;
    }
    if (phase_ == Phase::kHeader) {
      auto header = wire::decode_header(head_);
      if (!header.ok()) {
        return Status(ErrorCode::kIo, header.status().message());
      }
      header_ = *header;
      body_.resize(header_.body_bytes);
      target_.assign(1, {body_.data(), body_.size()});
      first_ = body_.empty() ? 1 : 0;
      phase_ = Phase::kBody;
    } else if (phase_ == Phase::kBody) {
      if (!wire::check_body(head_, body_).ok()) {
        return Status(ErrorCode::kIo, "an answer changed on its way");
      }
      phase_ = Phase::kAsked;
      return Event::kHead;
    } else {
      STRIA_RETURN_IF_ERROR(finish_payload());
      next_frame();
      return Event::kPayload;
    }
  }
}

Status FrameReceiver::accept_payload(IovecCursor& places) {
  STRIA_CHECK(phase_ == Phase::kAsked, phase_);
  STRIA_CHECK(header_.payload_bytes <= places.left(), header_.payload_bytes, places.left());
  places_.clear();
  places.take(header_.payload_bytes, places_);
  is_gathered_ = places_.size() > kManyPieces;
  target_ = places_;
  if (is_gathered_) {
    if (gathered_ == nullptr) {
      gathered_ = std::make_unique_for_overwrite<std::byte[]>(kPayloadBytes);
    }
    target_.assign(1, {gathered_.get(), header_.payload_bytes});
  }
  first_ = 0;
  phase_ = Phase::kPayload;
  return {};
}

Status FrameReceiver::finish_payload() {
  const iovec gathered{gathered_.get(), header_.payload_bytes};
  const auto pieces = is_gathered_ ? std::span(&gathered, 1) : std::span<const iovec>(places_);
  if (sum_of(pieces) != header_.payload_sum) {
    return Status(ErrorCode::kIo, "data changed on their way");
  }
  if (is_gathered_) {
    const std::byte* from = gathered_.get();
    for (const iovec& piece : places_) {
      copy_piece(piece.iov_base, from, piece.iov_len);
      from += piece.iov_len;
    }
  }
  return {};
}

}  // namespace stria::storage
