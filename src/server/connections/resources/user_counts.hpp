// Describes how many connections each user has, so that one user can't take all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/check.hpp"

namespace stria::server {

/// This is thread-safe.
class UserCounts {
 public:
  /// Counts one more; false, without counting, when the user has `most` already.
  bool add(uint32_t uid, size_t most) {
    const std::lock_guard lock(mutex_);
    size_t& count = counts_[uid];
    if (count >= most) {
      return false;
    }
    ++count;
    return true;
  }
  /// \pre it was counted
  void remove(uint32_t uid) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(uid);
    STRIA_CHECK(found != counts_.end(), uid);
    if (--found->second == 0) {
      counts_.erase(found);
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, size_t> counts_;
};

}  // namespace stria::server
