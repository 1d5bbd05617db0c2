// Copies between the packed streams of a source or sink and their places in a window of the file.
//
// Problem: a window holds pieces of a rank's streams; to hand a packer each piece costs more than
// the piece where they are short, and a copy more where they are long. Method, chosen here alone:
// straight between memory and window where memory holds the stream as the file does; else densely,
// packed in one buffer that stays in the cache and copied from there, where pieces are shorter than
// the rule says; else piece by piece, all pieces of a window in one call.
// Cost: one copy, densely two; memory: the dense buffer and a part a piece.
#pragma once

#include <memory>
#include <vector>

#include "access/request/endpoint.hpp"
#include "access/request/overlap.hpp"
#include "base/buffer.hpp"

namespace stria::access {

struct CopyRule {
  int64_t short_piece_bytes;  ///< shorter pieces go densely, where they don't go straight
  bool long_pieces_straight;  ///< else only short ones go straight
  int64_t dense_bytes;        ///< at most so much is packed densely at once
};

/// Aggregators' buffers are larger than a cache: what is hashed while it is packed had better be
/// packed in slices that stay in it, as a packer does with long pieces. It handles a part of 256
/// bytes in about the time of copying them once more.
inline constexpr CopyRule kAggregatorCopy{.short_piece_bytes = 256, .long_pieces_straight = false, .dense_bytes = 256 << 10};
/// Windows that a node shares stay in the cache, so that another copy there costs little beside a
/// packer's part: a piece must have a page to be worth one.
inline constexpr CopyRule kWindowCopy{.short_piece_bytes = 4 << 10, .long_pieces_straight = true, .dense_bytes = 1 << 20};

class WindowCopy {
 public:
  WindowCopy(Endpoint endpoint, const CopyRule& rule) : endpoint_(endpoint), rule_(rule) {}

  /// Begins a window, and forgets what was not finished.
  void begin() { parts_.clear(); }
  /// Copies an overlap's bytes, from source or to sink. `window` is the place of file offset
  /// `window_begin`. What goes piece by piece is copied by finish().
  void copy(const Overlap& overlap, std::byte* window, int64_t window_begin);
  void finish();

 private:
  bool copy_straight(const Overlap& overlap, std::byte* window, int64_t window_begin);
  void copy_densely(const Overlap& overlap, std::byte* window, int64_t window_begin);
  void hand_over(std::span<const StreamPart> parts);

  Endpoint endpoint_;
  const CopyRule& rule_;
  std::vector<StreamPart> parts_;
  std::unique_ptr<Buffer> dense_;
};

}  // namespace stria::access
