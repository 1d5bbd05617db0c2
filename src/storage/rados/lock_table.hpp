// Locks on a file: of ranges, and of the file as a whole.
//
// Problem: Ceph locks objects by name, not ranges of a file that many objects hold.
// Method: the locks of a file are entries of one object. A lock is added by a change that expects
// the table as it was read. Its holder is known by its watch (presence.hpp): the locks of a program
// that has gone are taken away by whoever they are in the way of.
// Cost: two requests for a lock, one to give it up. A waiter asks again after up to 50 ms.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/driver.hpp"
#include "storage/rados/object_entries.hpp"
#include "storage/rados/presence.hpp"

namespace stria::storage {

/// The locks of one file as one handle sees and takes them. Thread-safe.
class LockTable {
 public:
  enum class Kind { kRange, kFile };
  struct Wish {
    Kind kind = Kind::kRange;
    ByteRange range;
    LockMode mode = LockMode::kShared;
  };
  /// A lock, as its entry in the table has it.
  struct Lock {
    std::string key;
    std::string value;
  };

  LockTable(std::shared_ptr<const Pool> pool, uint64_t file, Holder holder);

  /// Takes a lock; nothing where another handle holds one that conflicts.
  Result<std::optional<Lock>> take(const Wish& wish);
  /// Does the same, and waits until no other handle does.
  Result<Lock> wait_for(const Wish& wish);
  /// Does the same, but waits only for handles that don't answer, until the cluster drops them.
  Result<std::optional<Lock>> take_from_the_silent(const Wish& wish);
  /// Tells whether another handle holds a lock of any mode that overlaps.
  Result<bool> is_locked_elsewhere(ByteRange range);
  /// kIo when the lock was lost: others took this program for gone.
  Status give_up(const Lock& lock);

 private:
  struct Attempt {
    std::optional<Lock> lock;
    bool meets_the_silent = false;
  };
  /// Says what became of locks that are in the way.
  enum class Holders { kSomeHaveGone, kSomeAreSilent, kAnswer };
  Result<Entries> read() const;
  std::vector<std::string> in_the_way(const Entries& table, const Wish& wish) const;
  Result<Attempt> attempt(const Wish& wish);
  Result<Holders> look_for_holders(const Entries& table, const std::vector<std::string>& keys);
  Status drop(const Entries& table, const std::vector<std::string>& keys);

  std::shared_ptr<const Pool> pool_;
  std::string object_;
  std::string header_;
  std::string own_prefix_;
  std::mutex mutex_;
  uint64_t last_lock_ = 0;
  std::chrono::steady_clock::time_point answered_at_;  ///< when all that were in the way last did
};

}  // namespace stria::storage
