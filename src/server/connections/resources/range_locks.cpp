#include "server/connections/resources/range_locks.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace stria::server {

namespace {

constexpr int64_t kMostOfOwner = 16384;
constexpr int64_t kBehindAnyFile = int64_t{1} << 62;
constexpr int64_t kMostOfAll = int64_t{1} << 18;

Status too_many(const char* whose, int64_t most) {
  return Status(ErrorCode::kResourceExhausted,
                std::string(whose) + " " + std::to_string(most) + " range locks already: unlock some first");
}

}  // namespace

Result<bool> RangeLocks::try_lock(const wire::LockRange& wanted, Owner owner, const std::function<void()>& woken) {
  const std::lock_guard guard(mutex_);
  if (count_ >= kMostOfAll) {
    return too_many("the server's clients hold", kMostOfAll);
  }
  if (const auto held = owners_.find(owner); held != owners_.end() && held->second.count >= kMostOfOwner) {
    return too_many("this client holds", kMostOfOwner);
  }
  const auto file = files_.try_emplace(wanted.file).first;
  OfFile& of_file = file->second;
  const bool in_the_way = std::any_of(of_file.locks.begin(), of_file.locks.end(), [&](const Lock& lock) {
    const bool may_share = !wanted.exclusive && !lock.exclusive;
    return lock.holder != wanted.holder && !may_share && !intersect(wanted.range, lock.range).empty();
  });
  if (in_the_way) {
    of_file.waiting[owner] = woken;
    return false;
  }
  of_file.waiting.erase(owner);
  of_file.locks.push_back({wanted.range, wanted.exclusive, wanted.holder, owner});
  OfOwner& of_owner = owners_[owner];
  ++of_owner.count;
  ++of_owner.files[wanted.file];
  ++count_;
  return true;
}

void RangeLocks::give_up(uint64_t file, Owner owner) {
  const std::lock_guard guard(mutex_);
  if (const auto found = files_.find(file); found != files_.end()) {
    found->second.waiting.erase(owner);
  }
}

bool RangeLocks::is_locked(const wire::LockRange& asked) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(asked.file);
  return found != files_.end() && std::any_of(found->second.locks.begin(), found->second.locks.end(), [&](const Lock& lock) {
           return lock.holder != asked.holder && !intersect(asked.range, lock.range).empty();
         });
}

void RangeLocks::wake(Files::iterator file) {
  for (const auto& [owner, woken] : std::exchange(file->second.waiting, {})) {
    woken();
  }
  if (file->second.locks.empty()) {
    files_.erase(file);
  }
}

void RangeLocks::forget(Owner owner, uint64_t file, int64_t locks) {
  const auto found = owners_.find(owner);
  STRIA_CHECK(found != owners_.end() && found->second.count >= locks && count_ >= locks, owner, file, locks, count_);
  OfOwner& of_owner = found->second;
  count_ -= locks;
  of_owner.count -= locks;
  if (of_owner.count == 0) {
    owners_.erase(found);
  } else if ((of_owner.files[file] -= locks) == 0) {
    of_owner.files.erase(file);
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
  forget(owner, held_before.file, 1);
  wake(found);
  return true;
}

void RangeLocks::unlock_all(Owner owner) {
  const std::lock_guard guard(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) {
    return;
  }
  count_ -= found->second.count;
  STRIA_CHECK(count_ >= 0, count_, found->second.count);
  for (const auto& [number, held] : found->second.files) {
    const auto file = files_.find(number);
    STRIA_CHECK(file != files_.end(), number, owner);
    const auto given_up = std::erase_if(file->second.locks, [&](const Lock& lock) { return lock.owner == owner; });
    STRIA_CHECK(static_cast<int64_t>(given_up) == held, given_up, held, number);
    wake(file);
  }
  owners_.erase(found);
}

std::optional<std::vector<RangeLocks::Owner>> RangeLocks::owners_of_notes(uint64_t file) const {
  const std::lock_guard guard(mutex_);
  std::vector<Owner> owners;
  const auto found = files_.find(file);
  if (found == files_.end()) {
    return owners;
  }
  for (const Lock& lock : found->second.locks) {
    if (lock.range.begin < kBehindAnyFile) {
      return {};
    }
    owners.push_back(lock.owner);
  }
  return owners;
}

int64_t RangeLocks::count() const {
  const std::lock_guard guard(mutex_);
  return count_;
}

bool RangeLocks::has_any(Owner owner) const {
  const std::lock_guard guard(mutex_);
  return owners_.contains(owner);
}

}  // namespace stria::server
