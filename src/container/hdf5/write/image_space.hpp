// The places of metadata in a new file, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/image.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Metadata lie one behind the other in the head of the file, which is kept for them, and past all raw data once it is full.
class ImageSpace {
 public:
  static constexpr int64_t kHeadBytes = int64_t{64} << 10;

  /// `raw_end`: where raw data end, which begin at kHeadBytes or later; at most kHeadBytes when there are none.
  explicit ImageSpace(int64_t raw_end) : raw_end_(raw_end) { head_.reserve(kHeadBytes); }

  /// A place for so many bytes, zeros until written. kInvalidArgument when the file would be too large.
  Result<int64_t> reserve(int64_t bytes, int64_t alignment_bytes);
  /// \pre in a reserved place
  void write(int64_t offset, std::span<const std::byte> bytes);
  /// reserve() and write().
  Result<int64_t> place(std::span<const std::byte> bytes, int64_t alignment_bytes = 1);
  /// Where the file ends.
  int64_t file_bytes() const;
  SparseImage take();

 private:
  int64_t raw_end_;
  std::vector<std::byte> head_;
  int64_t tail_begin_ = 0;
  std::vector<std::byte> tail_;
};

}  // namespace stria::container::h5
