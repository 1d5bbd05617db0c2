// A page-aligned buffer that keeps its memory from one use to the next within the process.
//
// Problem: memory that the kernel hands out afresh costs a fault and a zeroing a page, several times what filling it costs;
// checkpoints come again and again. Method: released buffers wait in a small per-thread cache, at most kKeepBytes in all. Fixed
// alignment serves direct I/O.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::access {

class Buffer {
 public:
  static constexpr int64_t kAlignmentBytes = 4096;
  static constexpr int64_t kKeepBytes = 8 << 20;

  /// \pre bytes >= 0
  explicit Buffer(int64_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  int64_t size() const { return bytes_; }

 private:
  std::byte* data_;
  int64_t bytes_;
  int64_t capacity_bytes_;
};

}  // namespace stria::access
