// A page-aligned buffer that keeps its memory from one use to the next within the process.
//
// Problem: memory that the kernel hands out afresh costs a fault and a zeroing a page, several times what filling it costs;
// checkpoints come again and again; and a device takes a direct write in as many pieces as memory holds it in. Method: released
// buffers wait in a small per-thread cache, kKeepCount of at most kKeepBytes; large ones ask for the kernel's huge pages. Fixed
// alignment serves direct I/O.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria {

class Buffer {
 public:
  static constexpr int64_t kAlignmentBytes = 4096;
  static constexpr int64_t kKeepBytes = 5 << 20;
  static constexpr size_t kKeepCount = 2;

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

}  // namespace stria
