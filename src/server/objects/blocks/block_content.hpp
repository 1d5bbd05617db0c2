// Holds what the parts of an object's code share: a block in memory, and functions that move bytes
// to and from the file.
#pragma once

#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/byte_range.hpp"
#include "server/objects/blocks/block_sums.hpp"

namespace stria::server {

using Content = std::array<std::byte, kBlockBytes>;

/// Returns in how many blocks so many bytes lie.
inline int64_t block_end(int64_t bytes) {
  return align_up(bytes, kBlockBytes) / kBlockBytes;
}

inline int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline constexpr int64_t kSecondNs = 1000000000;

inline int64_t ns_of(const timespec& time) {
  return int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

/// Returns a time later than what file systems note at the same moment.
inline int64_t exact_time_ns() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

/// Returns the time as file systems note it.
inline int64_t file_time_ns() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return ns_of(now);
}

/// Moves data to or from a run until all are moved. A read stops at the end of the file.
template <typename Move>
int move_run(int64_t offset, std::byte* data, int64_t bytes, int64_t* moved, Move move) {
  *moved = 0;
  while (*moved < bytes) {
    const ssize_t now = move(data + *moved, static_cast<size_t>(bytes - *moved), offset + *moved);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      return errno;
    }
    if (now == 0) {
      return 0;
    }
    *moved += now;
  }
  return 0;
}

/// Reads; bytes behind the end of the file are zero. Returns the number of an error, or 0.
inline int read_fully(int descriptor, int64_t offset, std::byte* to, int64_t bytes) {
  int64_t moved = 0;
  const int error_number = move_run(offset, to, bytes, &moved, [&](std::byte* memory, size_t count, int64_t at) {
    return pread(descriptor, memory, count, at);
  });
  std::memset(to + moved, 0, static_cast<size_t>(bytes - moved));
  return error_number;
}

}  // namespace stria::server
