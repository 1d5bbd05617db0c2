// The places of the metadata in a new file, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/image.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Metadata lie in the head of the file, which is kept for them, one piece behind another. Once the
/// head is full they go past all raw data.
class ImageSpace {
 public:
  static constexpr int64_t kHeadBytes = int64_t{64} << 10;

  /// `raw_end`: the end of the raw data, which begin at kHeadBytes or later; at most kHeadBytes
  /// when there are none. Of an old file, which has no head that is free, the end of all that it
  /// has.
  explicit ImageSpace(int64_t raw_end, bool has_head = true) : raw_end_(raw_end), has_head_(has_head) {
    head_.reserve(has_head ? kHeadBytes : 0);
  }

  /// Reserves a place for `bytes` bytes, which are zeros until written. kInvalidArgument when the
  /// file would be too large.
  Result<int64_t> reserve(int64_t bytes, int64_t alignment_bytes);
  /// \pre the bytes lie in a reserved place
  void write(int64_t offset, std::span<const std::byte> bytes);
  /// Does what reserve() and write() do.
  Result<int64_t> place(std::span<const std::byte> bytes, int64_t alignment_bytes = 1);
  /// Returns the end of the file.
  int64_t file_bytes() const;
  SparseImage take();

 private:
  int64_t raw_end_;
  bool has_head_;
  std::vector<std::byte> head_;
  int64_t tail_begin_ = 0;
  std::vector<std::byte> tail_;
};

}  // namespace stria::container::h5
