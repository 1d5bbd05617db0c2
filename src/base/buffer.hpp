// A page-aligned buffer whose memory is kept for the next use within the process.
//
// Problem: each new page from the kernel costs a fault and is zeroed, which takes several times as
// long as filling it; and checkpoints come again and again. A device takes a direct write in as
// many pieces as physical memory holds it in.
// Method: released buffers wait in a small cache of the thread: kKeepCount buffers of at most
// kKeepBytes. Large ones ask for the kernel's huge pages. The fixed alignment serves direct I/O.
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
