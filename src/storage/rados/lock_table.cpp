#include "storage/rados/lock_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "storage/rados/pool.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

using std::chrono::milliseconds;

constexpr const char* kGeneration = "generation";
constexpr std::string_view kLock = "lock:";  // Client, cookie and number of the lock follow.
constexpr milliseconds kShortestPause{2};
constexpr milliseconds kLongestLockPause{50};
// Holders that answered are not asked again for so long.
constexpr std::chrono::seconds kTrust{2};

std::string prefix_of(const Holder& holder) {
  return fmt::format("{}{}.{}.", kLock, hexadecimal(holder.client), hexadecimal(holder.cookie));
}

Holder holder_of(const std::string& key) {
  return {from_hexadecimal(key.substr(kLock.size(), 16)), from_hexadecimal(key.substr(kLock.size() + 17, 16))};
}

std::string value_of(const LockTable::Wish& wish) {
  return fmt::format("{} {} {} {}", wish.kind == LockTable::Kind::kFile ? "file" : "range",
                     wish.mode == LockMode::kExclusive ? "exclusive" : "shared",
                     hexadecimal(static_cast<uint64_t>(wish.range.begin)), hexadecimal(static_cast<uint64_t>(wish.range.end)));
}

LockTable::Wish wish_of(const std::string& value) {
  std::array<std::string_view, 4> words;
  std::string_view rest = value;
  for (std::string_view& word : words) {
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  const auto number = [](std::string_view text) { return static_cast<int64_t>(from_hexadecimal(text)); };
  return {words[0] == "file" ? LockTable::Kind::kFile : LockTable::Kind::kRange,
          {number(words[2]), number(words[3])},
          words[1] == "shared" ? LockMode::kShared : LockMode::kExclusive};
}

bool conflict(const LockTable::Wish& a, const LockTable::Wish& b) {
  const bool shared = a.mode == LockMode::kShared && b.mode == LockMode::kShared;
  return a.kind == b.kind && !shared && !intersect(a.range, b.range).empty();
}

std::string generation_of(const Entries& table) {
  const auto found = table.find(kGeneration);
  return found == table.end() ? "" : found->second;
}

/// Prepares a change of the table that expects it as it was read.
void prepare(ObjectChange& change, const Entries& table) {
  const std::string generation = generation_of(table);
  change.create(ObjectChange::Creation::kIfMissing);
  change.expect(kGeneration, generation);
  change.set(kGeneration, hexadecimal(from_hexadecimal(generation) + 1));
}

}  // namespace

LockTable::LockTable(std::shared_ptr<const Pool> pool, uint64_t file, Holder holder)
    : pool_(std::move(pool)), object_(locks_object(file)), header_(header_object(file)), own_prefix_(prefix_of(holder)) {}

Result<Entries> LockTable::read() const {
  Entries table;
  const int failed = read_entries(*pool_, object_, "", table);
  return failed == 0 || failed == ENOENT ? Result<Entries>(std::move(table)) : pool_->error(-failed, object_);
}

std::vector<std::string> LockTable::in_the_way(const Entries& table, const Wish& wish) const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : table) {
    if (key.starts_with(kLock) && !key.starts_with(own_prefix_) && conflict(wish, wish_of(value))) {
      keys.push_back(key);
    }
  }
  return keys;
}

Status LockTable::drop(const Entries& table, const std::vector<std::string>& keys) {
  ObjectChange change(*pool_);
  prepare(change, table);
  for (const std::string& key : keys) {
    change.drop(key);
  }
  const int failed = change.apply(object_);
  return failed == 0 || failed == ECANCELED ? Status() : pool_->error(-failed, object_);
}

Result<LockTable::Holders> LockTable::look_for_holders(const Entries& table, const std::vector<std::string>& keys) {
  {
    const std::lock_guard lock(mutex_);
    if (Clock::now() < answered_at_ + kTrust) {
      return Holders::kAnswer;
    }
  }
  STRIA_ASSIGN_OR_RETURN(const Present present, who_is_present(*pool_, header_));
  std::vector<std::string> dead;
  bool silent = false;
  for (const std::string& key : keys) {
    const Holder holder = holder_of(key);
    if (present.silent.contains(holder)) {
      silent = true;
    } else if (!present.answered.contains(holder)) {
      dead.push_back(key);
    }
  }
  if (!dead.empty()) {
    STRIA_RETURN_IF_ERROR(drop(table, dead));
    return Holders::kSomeHaveGone;
  }
  if (silent) {
    return Holders::kSomeAreSilent;
  }
  const std::lock_guard lock(mutex_);
  answered_at_ = Clock::now();
  return Holders::kAnswer;
}

Result<LockTable::Attempt> LockTable::attempt(const Wish& wish) {
  const Clock::time_point deadline = Clock::now() + rados_patience();
  milliseconds pause = kShortestPause;
  while (Clock::now() < deadline) {
    STRIA_ASSIGN_OR_RETURN(const Entries table, read());
    const std::vector<std::string> keys = in_the_way(table, wish);
    if (!keys.empty()) {
      STRIA_ASSIGN_OR_RETURN(const Holders holders, look_for_holders(table, keys));
      if (holders == Holders::kSomeHaveGone) {
        continue;
      }
      return Attempt{std::nullopt, holders == Holders::kSomeAreSilent};
    }
    Lock lock{own_prefix_, value_of(wish)};
    {
      const std::lock_guard guard(mutex_);
      lock.key += hexadecimal(++last_lock_);
    }
    ObjectChange change(*pool_);
    prepare(change, table);
    change.set(lock.key, lock.value);
    const int failed = change.apply(object_);
    if (failed == 0) {
      return Attempt{std::move(lock), false};
    }
    if (failed != ECANCELED) {
      return pool_->error(-failed, object_);
    }
    // Another handle was first.
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestLockPause);
  }
  return pool_->error(-ETIMEDOUT, object_);
}

Result<std::optional<LockTable::Lock>> LockTable::take(const Wish& wish) {
  STRIA_ASSIGN_OR_RETURN(Attempt made, attempt(wish));
  return std::move(made.lock);
}

Result<LockTable::Lock> LockTable::wait_for(const Wish& wish) {
  milliseconds pause = kShortestPause;
  while (true) {
    STRIA_ASSIGN_OR_RETURN(Attempt made, attempt(wish));
    if (made.lock) {
      return std::move(*made.lock);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestLockPause);
  }
}

Result<std::optional<LockTable::Lock>> LockTable::take_from_the_silent(const Wish& wish) {
  const Clock::time_point deadline = Clock::now() + 2 * std::chrono::seconds(kWatchSeconds);
  while (true) {
    STRIA_ASSIGN_OR_RETURN(Attempt made, attempt(wish));
    if (made.lock || !made.meets_the_silent || Clock::now() > deadline) {
      return std::move(made.lock);
    }
    std::this_thread::sleep_for(10 * kLongestLockPause);
  }
}

Result<bool> LockTable::is_locked_elsewhere(ByteRange range) {
  const Wish wish{Kind::kRange, range, LockMode::kExclusive};
  while (true) {
    STRIA_ASSIGN_OR_RETURN(const Entries table, read());
    const std::vector<std::string> keys = in_the_way(table, wish);
    if (keys.empty()) {
      return false;
    }
    STRIA_ASSIGN_OR_RETURN(const Holders holders, look_for_holders(table, keys));
    if (holders != Holders::kSomeHaveGone) {
      return true;
    }
  }
}

Status LockTable::give_up(const Lock& lock) {
  ObjectChange change(*pool_);
  change.expect(lock.key, lock.value);
  change.drop(lock.key);
  const int failed = change.apply(object_);
  if (failed == ECANCELED || failed == ENOENT) {
    return Status(ErrorCode::kIo, "others took this program for gone");
  }
  return failed == 0 ? Status() : pool_->error(-failed, object_);
}

}  // namespace stria::storage
