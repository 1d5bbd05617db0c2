#include "access/writers/writers.hpp"

#include <array>
#include <utility>

#include "base/check.hpp"

namespace stria::access {

namespace {

// The regions lie behind the end of any file, but within the reach of locks.
constexpr int64_t kRegionsBegin = int64_t{1} << 62;
constexpr int64_t kRegionBytes = int64_t{1} << 60;
// A refused rank asks again after so many plain writes, or so many windows.
constexpr int kPlainWritesBetween = 64;
constexpr int kWindowsBetween = 8;

int64_t region_of(Standing standing) {
  switch (standing) {
    case Standing::kFree:
      return kRegionsBegin;
    case Standing::kJointSiever:
      return kRegionsBegin + kRegionBytes;
    default:
      return kRegionsBegin + 2 * kRegionBytes;
  }
}

bool go_together(Standing one, Standing other) {
  return one == other && one != Standing::kSoleSiever;
}

bool sieves(Standing standing) {
  return standing == Standing::kJointSiever || standing == Standing::kSoleSiever;
}

}  // namespace

bool Writers::announce(storage::File& file, Standing wish) {
  STRIA_ASSERT(wish == Standing::kFree || sieves(wish), wish);
  const auto place = static_cast<int64_t>(locks_.number() % static_cast<uint64_t>(kRegionBytes));
  const int64_t own = region_of(wish) + place;
  auto mine = file.try_lock({own, own + 1}, storage::LockMode::kShared);
  if (!mine.ok() || *mine == nullptr) {
    return false;
  }
  for (const Standing other : {Standing::kFree, Standing::kJointSiever, Standing::kSoleSiever}) {
    if (go_together(wish, other)) {
      continue;
    }
    const int64_t begin = region_of(other);
    for (const ByteRange others : {ByteRange{begin, begin + place}, ByteRange{begin + place + 1, begin + kRegionBytes}}) {
      const auto found = others.empty() ? Result<bool>(false) : file.is_locked_elsewhere(others);
      if (!found.ok() || *found) {
        return false;
      }
    }
  }
  held_.push_back({wish, std::move(*mine)});
  holds_free_ = holds_free_ || wish == Standing::kFree;
  return true;
}

// Other nodes refuse to join as long as this rank seems to write freely.
void Writers::give_up_freedom() {
  if (holds_free_ && standing() == Standing::kJointSiever) {
    const auto all = locks_.lock({0, INT64_MAX});
    std::erase_if(held_, [](const Held& held) { return held.standing == Standing::kFree; });
    holds_free_ = false;
  }
}

// No rank of this node writes meanwhile.
void Writers::take_standing(storage::File& file, Standing wish) {
  const auto all = locks_.lock({0, INT64_MAX});
  const Standing now = standing();
  if (now == wish || sieves(now)) {
    return;
  }
  if (announce(file, wish)) {
    locks_.set_note(static_cast<uint32_t>(wish));
  } else if (now == Standing::kNone) {
    locks_.set_note(static_cast<uint32_t>(Standing::kLocking));
  }
}

bool Writers::is_due(std::atomic<int>& refused, int every) {
  return refused.fetch_add(1, std::memory_order_relaxed) % every == 0;
}

NodeLocks::Guard Writers::enter_plain(storage::File& file, ByteRange range, Standing wish, bool& must_lock) {
  STRIA_ASSERT(range.begin >= 0 && range.begin <= range.end, range.begin, range.end);
  STRIA_ASSERT(wish == Standing::kFree || wish == Standing::kJointSiever, wish);
  give_up_freedom();
  auto guard = locks_.enter_plain(range);
  Standing now = standing();
  if (now == Standing::kNone || (now == Standing::kLocking && is_due(refused_free_, kPlainWritesBetween))) {
    guard = NodeLocks::Guard();
    take_standing(file, wish);
    guard = locks_.enter_plain(range);
    now = standing();
  }
  must_lock = now == Standing::kLocking || now == Standing::kJointSiever;
  return guard;
}

bool Writers::enter_freely(ByteRange range, NodeLocks::Guard& guard) {
  guard = locks_.enter_plain(range);
  if (const Standing now = standing(); now == Standing::kFree || now == Standing::kSoleSiever) {
    return true;
  }
  guard = NodeLocks::Guard();
  return false;
}

bool Writers::enter_window(storage::File& file, ByteRange range, Standing wish, NodeLocks::Guard& guard) {
  STRIA_ASSERT(range.begin >= 0 && range.begin <= range.end, range.begin, range.end);
  STRIA_ASSERT(sieves(wish), wish);
  give_up_freedom();
  guard = locks_.lock(range);
  if (!sieves(standing()) && is_due(refused_sieving_, kWindowsBetween)) {
    guard = NodeLocks::Guard();
    take_standing(file, wish);
    give_up_freedom();
    guard = locks_.lock(range);
  }
  if (!sieves(standing())) {
    guard = NodeLocks::Guard();
    return false;
  }
  return true;
}

}  // namespace stria::access
