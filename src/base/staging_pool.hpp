// The process's memory for bytes that a thread writes later.
//
// Problem: each new page from the kernel costs a fault and is zeroed, which takes longer than to
// fill it; and checkpoints come again and again.
// Method: extents of one size, kept for the next use. What they held is marked as free, so that the
// kernel takes the pages where it needs them, and leaves them where it doesn't.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace stria {

class StagingPool {
 public:
  static constexpr int64_t kExtentBytes = 32 << 20;

  /// Returns the process's pool. Never destroyed, because a thread may still write when the program
  /// ends.
  static StagingPool& instance();

  /// Returns an extent; null where there is no memory.
  std::byte* take();
  void give_back(std::byte* extent) noexcept;
  /// Counts up to `bytes` as staged, as many as fit below the limit, and returns their number.
  int64_t count(int64_t bytes, int64_t limit_bytes);
  void uncount(int64_t bytes);

 private:
  std::mutex mutex_;
  std::vector<std::byte*> kept_;
  int64_t staged_bytes_ = 0;
};

/// Returns the memory that the ranks of a node may stage in together where no hint says otherwise:
/// a quarter of what is free.
int64_t default_staging_bytes();

}  // namespace stria
