#include "base/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria {

namespace {

constexpr int64_t kHugePageBytes = 2 << 20;

// The buffers that a thread keeps: as many as a method fills in turn.
struct Kept {
  struct Place {
    std::byte* data = nullptr;
    int64_t capacity_bytes = 0;
  };
  std::array<Place, Buffer::kKeepCount> places;
  ~Kept() {
    for (Place& place : places) {
      std::free(place.data);
    }
  }
};
thread_local Kept kept;

}  // namespace

Buffer::Buffer(int64_t bytes) : bytes_(bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  for (Kept::Place& place : kept.places) {
    if (place.data != nullptr && place.capacity_bytes >= bytes) {
      data_ = std::exchange(place.data, nullptr);
      capacity_bytes_ = std::exchange(place.capacity_bytes, 0);
      return;
    }
  }
  const int64_t alignment_bytes = bytes >= kHugePageBytes ? kHugePageBytes : kAlignmentBytes;
  capacity_bytes_ = align_up(std::max<int64_t>(bytes, 1), alignment_bytes);
  data_ =
      static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(alignment_bytes), static_cast<size_t>(capacity_bytes_)));
  if (data_ == nullptr) {
    throw std::bad_alloc();
  }
  if (alignment_bytes == kHugePageBytes) {
    // The kernel may ignore this.
    madvise(data_, static_cast<size_t>(capacity_bytes_), MADV_HUGEPAGE);
  }
}

Buffer::~Buffer() {
  auto smallest = std::min_element(kept.places.begin(), kept.places.end(), [](const Kept::Place& a, const Kept::Place& b) {
    return a.capacity_bytes < b.capacity_bytes;
  });
  if (capacity_bytes_ <= kKeepBytes && capacity_bytes_ > smallest->capacity_bytes) {
    std::swap(data_, smallest->data);
    smallest->capacity_bytes = capacity_bytes_;
  }
  std::free(data_);
}

}  // namespace stria
