// Locks on the blocks of one object. A writer holds a block exclusively, from reading it until its
// sum is stored. Readers share it.
//
// A fixed number of locks serves all blocks, with four neighbours to a lock. Each user takes all
// the locks that it needs at once, lowest first.
// Cost: some nanoseconds for each 16 KiB.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <shared_mutex>

#include "base/check.hpp"

namespace stria::server {

class BlockLocks {
 public:
  enum class Mode { kShared, kExclusive };

  class Guard {
   public:
    /// Blocks [first, end). \pre 0 <= first < end
    Guard(BlockLocks& locks, int64_t first, int64_t end, Mode mode) : locks_(locks), mode_(mode) {
      STRIA_ASSERT(0 <= first && first < end, first, end);
      const int64_t begin_group = first / kGroupBlocks;
      const int64_t end_group = (end - 1) / kGroupBlocks + 1;
      for (int64_t group = begin_group; group < end_group && group < begin_group + kCount; ++group) {
        taken_ |= uint64_t{1} << (group % kCount);
      }
      each([&](std::shared_mutex& mutex) { mode_ == Mode::kShared ? mutex.lock_shared() : mutex.lock(); });
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      each([&](std::shared_mutex& mutex) { mode_ == Mode::kShared ? mutex.unlock_shared() : mutex.unlock(); });
    }

   private:
    template <typename Body>
    void each(Body body) {
      for (uint64_t left = taken_; left != 0; left &= left - 1) {
        body(locks_.mutexes_[static_cast<size_t>(std::countr_zero(left))]);
      }
    }
    BlockLocks& locks_;
    Mode mode_;
    uint64_t taken_ = 0;
  };

 private:
  static constexpr int64_t kGroupBlocks = 4;
  // Bits of taken_; the thread sanitizer follows 64 locks of a thread, which has others too.
  static constexpr int64_t kCount = 56;
  std::array<std::shared_mutex, kCount> mutexes_;
};

}  // namespace stria::server
