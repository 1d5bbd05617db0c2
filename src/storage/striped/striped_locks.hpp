// The locks that a handle on a file of a store holds.
//
// Method: the server of the first slot holds a lock as long as the connection that took it lives.
// A lock behind the end of any file guards no bytes: it is a note, which tells other writers of
// this one. A note that its server has forgotten, or that the part left behind when it moved, is
// taken again before the next write; by one that finds the part gone, before it goes after it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "storage/driver.hpp"
#include "storage/striped/slot_servers.hpp"

namespace stria::storage {

class StripedRangeLock;

class StripedLocks {
 public:
  /// No file has bytes from here on.
  static constexpr int64_t kBehindAnyFile = int64_t{1} << 62;

  /// `servers` must outlive this, and this must outlive its locks.
  explicit StripedLocks(SlotServers& servers);
  StripedLocks(const StripedLocks&) = delete;
  StripedLocks& operator=(const StripedLocks&) = delete;

  /// Takes a lock; null when it didn't become free within that time.
  Result<std::unique_ptr<RangeLock>> take(ByteRange range, LockMode mode, uint32_t wait_ms);
  Result<bool> is_locked_elsewhere(ByteRange range);
  /// Takes the notes again that the part's server doesn't have, before a write begins. Returns
  /// loss().
  Status renew_notes();
  /// Returns the loss of a lock before it was given up, or success.
  Status loss() const;

 private:
  friend class StripedRangeLock;
  /// Asks the server of the first slot about a lock, and returns its answer. `range.file` becomes
  /// the number of the part that was asked about.
  Result<bool> ask(Store::Borrowed& link, wire::Kind kind, wire::LockRange& range, uint32_t wait_ms);
  /// Gives up a lock where it was taken, and returns whether it had been held until now. The part
  /// may have another place, and number, since.
  Status give_up(Store::Borrowed& borrowed, const wire::LockRange& taken, int64_t generation);
  void note_lost(ByteRange range, const Status& why);
  /// Tells whether the part that a lock was taken for is still where it was taken.
  bool is_there(const Store::Borrowed& borrowed, const wire::LockRange& taken) const;
  /// Identifies this handle's locks. Most handles never lock.
  uint64_t holder();

  SlotServers& servers_;
  std::once_flag holder_is_made_;
  uint64_t holder_ = 0;
  std::mutex notes_mutex_;
  std::set<StripedRangeLock*> notes_;  ///< locks that are held and guard no bytes
  mutable std::mutex lost_mutex_;
  Status lost_lock_;
};

}  // namespace stria::storage
