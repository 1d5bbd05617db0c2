// Locks on ranges of files, kept in memory. Each belongs to a connection and ends with it.
//
// Bounds: a number of locks per connection, and one for all together; a connection has one place in
// a file's line of waiters.
// Cost: a look at all locks of the file. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/byte_range.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

class RangeLocks {
 public:
  /// A connection, by its number.
  using Owner = uint64_t;

  /// True when the range is locked now, as no other holder's lock was in the way. Otherwise `woken`
  /// is called once, when any lock of the file is given up. kResourceExhausted when there are too
  /// many locks already.
  Result<bool> try_lock(const wire::LockRange& wanted, Owner owner, const std::function<void()>& woken);
  /// Ends the owner's wait.
  void give_up(uint64_t file, Owner owner);
  /// Gives a lock up. True when the owner held it.
  bool unlock(const wire::LockRange& held_before, Owner owner);
  /// True when another holder has a lock that overlaps.
  bool is_locked(const wire::LockRange& asked);
  void unlock_all(Owner owner);
  /// Returns who holds locks that guard no bytes, but say that their holders write: these don't
  /// keep a part from moving. None where there are locks that guard some.
  std::optional<std::vector<Owner>> owners_of_notes(uint64_t file) const;
  /// Counts the locks of all connections.
  int64_t count() const;
  bool has_any(Owner owner) const;

 private:
  struct Lock {
    ByteRange range;
    bool exclusive = false;
    uint64_t holder = 0;
    Owner owner = 0;
  };
  struct OfFile {
    std::vector<Lock> locks;
    std::map<Owner, std::function<void()>> waiting;
  };
  using Files = std::unordered_map<uint64_t, OfFile>;
  struct OfOwner {
    int64_t count = 0;
    std::unordered_map<uint64_t, int64_t> files;  // how many in each
  };
  void wake(Files::iterator file);
  void forget(Owner owner, uint64_t file, int64_t locks);

  mutable std::mutex mutex_;
  Files files_;
  std::unordered_map<Owner, OfOwner> owners_;
  int64_t count_ = 0;
};

}  // namespace stria::server
