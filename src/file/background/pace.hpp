// How fast a thread may write, so that a job leaves others their part of the storage.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

namespace stria::file {

class Pace {
 public:
  /// 0: as fast as can be.
  explicit Pace(int64_t bytes_a_second) : bytes_a_second_(bytes_a_second) {}

  /// What is to be written at once.
  int64_t most_bytes() const {
    return bytes_a_second_ > 0 ? std::max(kLeastBytes, bytes_a_second_ / kPartsOfASecond) : std::numeric_limits<int64_t>::max();
  }
  /// After so many bytes were written: waits until that was not too fast.
  void wait_after(int64_t bytes) {
    if (bytes_a_second_ > 0) {
      const std::chrono::duration<double> least(static_cast<double>(bytes) / static_cast<double>(bytes_a_second_));
      next_ = std::max(next_, Clock::now() - kMostAhead) + std::chrono::duration_cast<Clock::duration>(least);
      std::this_thread::sleep_until(next_);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kLeastBytes = 64 << 10;
  static constexpr int64_t kPartsOfASecond = 20;
  /// A write that took long may be made up for by so much.
  static constexpr std::chrono::milliseconds kMostAhead{100};

  int64_t bytes_a_second_;
  Clock::time_point next_{};
};

}  // namespace stria::file
