#include "base/staging_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/available_memory.hpp"

namespace stria {

namespace {

constexpr int64_t kShareOfFreeMemory = 4;

}  // namespace

StagingPool& StagingPool::instance() {
  static StagingPool* pool = new StagingPool;
  return *pool;
}

std::byte* StagingPool::take() {
  const std::lock_guard lock(mutex_);
  if (!kept_.empty()) {
    std::byte* extent = kept_.back();
    kept_.pop_back();
    return extent;
  }
  void* extent = mmap(nullptr, kExtentBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (extent == MAP_FAILED) {
    return nullptr;
  }
  // The kernel may ignore this.
  madvise(extent, kExtentBytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(extent);
}

void StagingPool::give_back(std::byte* extent) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    kept_.reserve(kept_.size() + 1);
    madvise(extent, kExtentBytes, MADV_FREE);
    kept_.push_back(extent);
  } catch (const std::bad_alloc&) {
    munmap(extent, kExtentBytes);
  }
}

int64_t StagingPool::count(int64_t bytes, int64_t limit_bytes) {
  const std::lock_guard lock(mutex_);
  const int64_t taken = std::clamp<int64_t>(limit_bytes - staged_bytes_, 0, bytes);
  staged_bytes_ += taken;
  return taken;
}

void StagingPool::uncount(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  staged_bytes_ -= bytes;
}

int64_t default_staging_bytes() {
  return available_memory() / kShareOfFreeMemory;
}

}  // namespace stria
