// Locks on ranges of files, kept in memory: each belongs to a connection and goes with it.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/byte_range.hpp"
#include "wire/messages.hpp"

namespace stria::server {

class RangeLocks {
 public:
  /// A connection, by its number.
  using Owner = uint64_t;

  /// Locks when no other holder's lock is in the way. If one is, `woken` is called once when any lock
  /// of the file is given up.
  bool try_lock(const wire::LockRange& wanted, Owner owner, const std::function<void()>& woken);
  /// True when the owner held it.
  bool unlock(const wire::LockRange& held_before, Owner owner);
  /// True when another holder has a lock that overlaps.
  bool is_locked(const wire::LockRange& asked);
  void unlock_all(Owner owner);

 private:
  struct Lock {
    ByteRange range;
    bool exclusive = false;
    uint64_t holder = 0;
    Owner owner = 0;
  };
  struct OfFile {
    std::vector<Lock> locks;
    std::vector<std::function<void()>> waiting;
  };
  void wake(std::unordered_map<uint64_t, OfFile>::iterator file);

  std::mutex mutex_;
  std::unordered_map<uint64_t, OfFile> files_;
};

}  // namespace stria::server
