#include "access/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/byte_range.hpp"

namespace stria::access {

namespace {

// One buffer a thread is kept: methods use one staging buffer at a time.
struct Kept {
  std::byte* data = nullptr;
  int64_t capacity_bytes = 0;
  ~Kept() { std::free(data); }
};
thread_local Kept kept;

}  // namespace

Buffer::Buffer(int64_t bytes) : bytes_(bytes) {
  if (kept.data != nullptr && kept.capacity_bytes >= bytes) {
    data_ = std::exchange(kept.data, nullptr);
    capacity_bytes_ = std::exchange(kept.capacity_bytes, 0);
    return;
  }
  capacity_bytes_ = align_up(std::max<int64_t>(bytes, 1), kAlignmentBytes);
  data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignmentBytes, static_cast<size_t>(capacity_bytes_)));
  if (data_ == nullptr) {
    throw std::bad_alloc();
  }
}

Buffer::~Buffer() {
  if (capacity_bytes_ <= kKeepBytes && capacity_bytes_ > kept.capacity_bytes) {
    std::free(kept.data);
    kept.data = data_;
    kept.capacity_bytes = capacity_bytes_;
  } else {
    std::free(data_);
  }
}

}  // namespace stria::access
