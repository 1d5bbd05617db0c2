#include "access/together/window/window_copy.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

void WindowCopy::copy(const Overlap& overlap, std::byte* window, int64_t window_begin) {
  STRIA_ASSERT(overlap.begin < overlap.end && hull_of(overlap).begin >= window_begin, overlap.begin, overlap.end, window_begin);
  const Stream& stream = *overlap.stream;
  const bool is_short = has_pieces_below(stream, rule_.short_piece_bytes);
  if ((is_short || rule_.long_pieces_straight) && copy_straight(overlap, window, window_begin)) {
    return;
  }
  if (is_short) {
    copy_densely(overlap, window, window_begin);
    return;
  }
  for_each_piece(overlap, [&](ByteRange piece, int64_t at) {
    parts_.push_back(
        {stream.stream_id, overlap.begin + at, overlap.begin + at + piece.size(), window + (piece.begin - window_begin)});
  });
}

// False where memory doesn't hold the stream as the file does.
bool WindowCopy::copy_straight(const Overlap& overlap, std::byte* window, int64_t window_begin) {
  const Stream& stream = *overlap.stream;
  if (endpoint_.writes()) {
    const std::byte* memory = endpoint_.source().straight_source(stream.stream_id);
    if (memory != nullptr) {
      scatter_pieces(overlap, memory + overlap.begin, window, window_begin);
      endpoint_.source().passed_straight(stream.stream_id, overlap.begin, overlap.end);
    }
    return memory != nullptr;
  }
  std::byte* memory = endpoint_.sink().straight_target(stream.stream_id);
  if (memory != nullptr) {
    gather_pieces(overlap, window, window_begin, memory + overlap.begin);
    endpoint_.sink().passed_straight(stream.stream_id, overlap.begin, overlap.end);
  }
  return memory != nullptr;
}

void WindowCopy::copy_densely(const Overlap& overlap, std::byte* window, int64_t window_begin) {
  const int64_t step = std::min(rule_.dense_bytes, overlap.end - overlap.begin);
  if (dense_ == nullptr || dense_->size() < step) {
    dense_ = std::make_unique<Buffer>(step);
  }
  for (int64_t at = overlap.begin; at < overlap.end; at += step) {
    const StreamPart part{
        .stream_id = overlap.stream->stream_id, .begin = at, .end = std::min(at + step, overlap.end), .packed = dense_->data()};
    if (endpoint_.writes()) {
      hand_over({&part, 1});
      scatter_pieces({overlap.stream, part.begin, part.end}, part.packed, window, window_begin);
    } else {
      gather_pieces({overlap.stream, part.begin, part.end}, window, window_begin, part.packed);
      hand_over({&part, 1});
    }
  }
}

void WindowCopy::finish() {
  hand_over(parts_);
}

void WindowCopy::hand_over(std::span<const StreamPart> parts) {
  if (parts.empty()) {
    return;
  }
  if (endpoint_.writes()) {
    endpoint_.source().pack(parts);
  } else {
    endpoint_.sink().unpack(parts);
  }
}

}  // namespace stria::access
