// Memory for the same chunk of several datasets, whose elements are packed or unpacked together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/buffer.hpp"
#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria::file {

class ChunkBatch {
 public:
  /// Returns how many chunks of this size a batch has at most.
  static size_t most(int64_t chunk_bytes) {
    constexpr int64_t kBatchBytes = 32 << 20;
    return static_cast<size_t>(std::max<int64_t>(kBatchBytes / distance(chunk_bytes), 1));
  }
  /// Makes room for `count` chunks of a size. What was there before is lost.
  void prepare(size_t count, int64_t chunk_bytes) {
    chunk_bytes_ = static_cast<size_t>(chunk_bytes);
    distance_ = static_cast<size_t>(distance(chunk_bytes));
    const auto bytes = static_cast<int64_t>(count * distance_);
    if (!memory_ || memory_->size() < bytes) {
      memory_.reset();
      memory_.emplace(bytes);
    }
  }
  std::span<std::byte> chunk(size_t i) {
    STRIA_ASSERT(memory_ && static_cast<int64_t>(i * distance_ + chunk_bytes_) <= memory_->size(), i, chunk_bytes_);
    return {memory_->data() + i * distance_, chunk_bytes_};
  }

 private:
  /// Returns how far apart chunks lie: streams that share sets of a cache hinder each other.
  static int64_t distance(int64_t chunk_bytes) {
    constexpr int64_t kLine = 64;
    constexpr int64_t kSets = 4096;
    const int64_t bytes = align_up(chunk_bytes, kLine);
    return bytes % kSets == 0 ? bytes + kLine : bytes;
  }

  std::optional<Buffer> memory_;
  size_t chunk_bytes_ = 0;
  size_t distance_ = 0;
};

}  // namespace stria::file
