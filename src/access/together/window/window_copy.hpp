// Copies between the packed streams of a source or sink and their places in a window of the file.
//
// Problem: a window holds pieces of a rank's streams. For short pieces, a packer's call per piece
// costs more than the piece. For long pieces, packing them together costs another copy. Method,
// chosen only here: straight between memory and window, where memory holds the stream as the file
// does. Else densely, where pieces are shorter than the rule says: they are packed into one
// buffer that stays in the cache, and copied from there. Else piece by piece, all pieces of a
// window in one call.
// Cost: one copy, densely two.
// Memory: the dense buffer, and one part per piece.
#pragma once

#include <memory>
#include <vector>

#include "access/request/endpoint.hpp"
#include "access/request/overlap.hpp"
#include "base/buffer.hpp"

namespace stria::access {

struct CopyRule {
  int64_t short_piece_bytes;  ///< shorter pieces go densely, where they don't go straight
  bool long_pieces_straight;  ///< false: only short ones go straight
  int64_t dense_bytes;        ///< at most so much is packed densely at once
};

/// Aggregators' buffers are larger than a cache. What is hashed while it is packed should be packed
/// in slices that stay in the cache, as a packer does with long pieces. A packer handles a part of
/// 256 bytes in about the time of another copy of them.
inline constexpr CopyRule kAggregatorCopy{.short_piece_bytes = 256, .long_pieces_straight = false, .dense_bytes = 256 << 10};
/// Windows that a node shares stay in the cache, so another copy there costs little compared with a
/// packer's part. Only a piece of a page or more is worth a part.
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
