// Finds out whether a server's disk can take new files: by the space that is left, by whether it
// may be written, and by the errors that it gave of late.
//
// Problem: the manager stripes a new file over all servers, and one whose disk is full, read-only
// or broken makes each of them fail.
// Method: each server judges its own disk every second and tells the manager. An error counts for
// ten minutes: one bad sector that is read again and again keeps new files away, and a disk that
// was exchanged is not avoided for ever.
// Cost: a statvfs a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "stria/status.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// This is thread-safe.
class DiskHealth {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kErrorCountsFor{600};
  static constexpr std::chrono::seconds kFullCountsFor{30};
  static constexpr int64_t kReservePart = 64;
  static constexpr int64_t kMostReserveBytes = int64_t{1} << 30;

  /// `reserve_bytes`: with less space the disk is nearly full; negative: a 64th of it, at most 1
  /// GiB.
  explicit DiskHealth(int64_t reserve_bytes = -1) : reserve_bytes_(reserve_bytes) {}

  struct Judgement {
    wire::Condition condition = wire::Condition::kGood;
    std::string why;
  };
  /// Judges how the file system of the directory is now.
  Judgement look(const std::string& directory, Clock::time_point now = Clock::now());
  /// Notes how a request to the disk ended. True for an error of the disk, which a full one isn't.
  bool note(const Status& outcome, Clock::time_point now = Clock::now());
  /// Returns how many errors of the disk there were.
  int64_t errors() const { return errors_; }

 private:
  struct Mark {
    std::string why;
    Clock::time_point when;
    bool holds(Clock::time_point now, Clock::duration time) const { return !why.empty() && now - when < time; }
  };
  const int64_t reserve_bytes_;
  std::atomic<int64_t> errors_ = 0;
  std::mutex mutex_;
  Mark failed_;
  Mark read_only_;
  Mark full_;
};

}  // namespace stria::server
