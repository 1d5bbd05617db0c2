// Describes how fast a process may write in the background, so that a job leaves others their part
// of the storage.
//
// Method: what is written is cut into pieces of a twentieth of a second. After each, nothing more
// is written until it was not too fast. All files of the process have one pace. Nothing here
// sleeps; the caller tells the time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stria::file {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns the part of a node's rate that each of its ranks has, of which `writers` write at a
  /// time. Both rates in bytes a second, 0: any number.
  static int64_t share(int64_t rate, int64_t writers, int64_t ranks) {
    return rate > 0 ? std::max<int64_t>(rate / std::min(writers, ranks), 1) : 0;
  }
  /// Returns how much to write at once at this rate; `otherwise` where there is none.
  static int64_t piece_bytes(int64_t rate, int64_t otherwise) {
    return rate > 0 ? std::min(std::max(kLeastBytes, rate / kPartsOfASecond), otherwise) : otherwise;
  }

  /// Returns how long nothing may be written yet.
  Clock::duration pause(Clock::time_point now) const { return std::max(next_ - now, Clock::duration::zero()); }
  bool may_write(Clock::time_point now) const { return now >= next_; }
  /// Notes that so many bytes were written at this rate. Without one, nothing is to be waited for.
  void note(int64_t bytes, int64_t rate, Clock::time_point now) {
    if (rate > 0) {
      const std::chrono::duration<double> least(static_cast<double>(bytes) / static_cast<double>(rate));
      next_ = std::max(next_, now - kMostAhead) + std::chrono::duration_cast<Clock::duration>(least);
    }
  }

 private:
  static constexpr int64_t kLeastBytes = 64 << 10;
  static constexpr int64_t kPartsOfASecond = 20;
  /// A write that took long may be made up for by so much.
  static constexpr std::chrono::milliseconds kMostAhead{100};

  Clock::time_point next_{};
};

}  // namespace stria::file
