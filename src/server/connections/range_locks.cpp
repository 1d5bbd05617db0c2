#include "server/connections/range_locks.hpp"

#include <algorithm>
#include <utility>

namespace stria::server {

namespace {

// Of one file.
constexpr size_t kMostLocks = 16384;

}  // namespace

bool RangeLocks::try_lock(const wire::LockRange& wanted, Owner owner, const std::function<void()>& woken) {
  const std::lock_guard guard(mutex_);
  OfFile& of_file = files_[wanted.file];
  const bool in_the_way = std::any_of(of_file.locks.begin(), of_file.locks.end(), [&](const Lock& lock) {
    const bool may_share = !wanted.exclusive && !lock.exclusive;
    return lock.holder != wanted.holder && !may_share && !intersect(wanted.range, lock.range).empty();
  });
  if (in_the_way || of_file.locks.size() >= kMostLocks) {
    if (of_file.waiting.size() < kMostLocks) {  // others ask again by themselves
      of_file.waiting.push_back(woken);
    }
    return false;
  }
  of_file.locks.push_back({wanted.range, wanted.exclusive, wanted.holder, owner});
  return true;
}

bool RangeLocks::is_locked(const wire::LockRange& asked) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(asked.file);
  return found != files_.end() && std::any_of(found->second.locks.begin(), found->second.locks.end(), [&](const Lock& lock) {
           return lock.holder != asked.holder && !intersect(asked.range, lock.range).empty();
         });
}

void RangeLocks::wake(std::unordered_map<uint64_t, OfFile>::iterator file) {
  for (const auto& woken : std::exchange(file->second.waiting, {})) {
    woken();
  }
  if (file->second.locks.empty()) {
    files_.erase(file);
  }
}

bool RangeLocks::unlock(const wire::LockRange& held_before, Owner owner) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(held_before.file);
  if (found == files_.end()) {
    return false;
  }
  auto& locks = found->second.locks;
  const auto held = std::find_if(locks.begin(), locks.end(),
                                 [&](const Lock& lock) { return lock.owner == owner && lock.range == held_before.range; });
  if (held == locks.end()) {
    return false;
  }
  locks.erase(held);
  wake(found);
  return true;
}

void RangeLocks::unlock_all(Owner owner) {
  const std::lock_guard guard(mutex_);
  for (auto file = files_.begin(); file != files_.end();) {
    const auto next = std::next(file);
    if (std::erase_if(file->second.locks, [&](const Lock& lock) { return lock.owner == owner; }) > 0) {
      wake(file);
    }
    file = next;
  }
}

}  // namespace stria::server
